import { type EventLimit, eventLimits } from '../../../ops/event-limits.ts'
import { readStream } from '../../../ops/read-stream.ts'
import { readWatchdogState } from '../../../ops/watchdog-state/parse.ts'
import { commonSettings } from '../../../ops/watchdog-state/state.ts'
import { compareNames } from '../../../store/names.ts'
import type { StreamStore } from '../../../store/store.ts'
import { StreamFault } from '../../../stream/errors.ts'
import type { DueAction } from '../../../stream/operations/operation.ts'
import { BoundedMap } from '../../../util/bounded-map.ts'
import { firstOf } from '../../../util/top-n.ts'
import type { DataStore } from '../store.ts'
import type { StreamEntry, StreamLimit, StreamTable, WatchdogView } from '../types.ts'
import { READS_AT_ONCE } from './unread.ts'

/** Limits shown at most, the soonest ones. */
const NEXT_SHOWN = 200
/** Documents read at most in one poll: the summary of a listing does not tell whose limit it is. */
const READS_PER_POLL = 24

/** Streams whose limits are remembered; those that only notify are remembered although they are not shown. */
const MAX_KNOWN = 10_000

/** The limits of a stream as last read. */
interface KnownLimits {
  readonly etag: string
  /** Soonest first; empty for a document that cannot be read. */
  readonly limits: readonly EventLimit[]
}

interface ShownLimits extends Pick<WatchdogView, 'next' | 'notified'> {
  /** When the next limit that is only told of passes; until then nothing changes without a write. */
  readonly untilMs: number
  /** Streams among `next` whose documents have to be read. */
  readonly unread: readonly StreamEntry[]
}

/** Keeps the state written by watchdogs, and the limits that expire next with their events. */
export class WatchdogPoll {
  readonly #store: StreamStore
  readonly #data: DataStore
  #mark: string | undefined
  #state = ''
  readonly #known = new BoundedMap<string, KnownLimits>(MAX_KNOWN)
  /** What watchdogs do at a limit whose event does not say it. */
  #usual: DueAction = 'abort-event'
  #tableRevision = -1
  #untilMs = 0
  #isWhole = false

  constructor(store: StreamStore, data: DataStore) {
    this.#store = store
    this.#data = data
  }

  /** @param mark the store's current change token: no state is read if it equals that of the last poll */
  async poll(mark: string | undefined, signal: AbortSignal): Promise<void> {
    await this.#findLimits(signal)
    if (mark !== undefined && mark === this.#mark) return
    this.#mark = undefined
    const state = await readWatchdogState(this.#store, signal)
    const text = JSON.stringify(state)
    if (text !== this.#state) this.#data.putWatchdog({ state })
    this.#state = text
    this.#mark = mark
  }

  /** Looks again after changes, when a limit that is only told of passes, and until all documents are read. */
  async #findLimits(signal: AbortSignal): Promise<void> {
    const { streams, watchdog } = this.#data
    const nowMs = this.#store.nowMs()
    const { onDue } = commonSettings(watchdog.state ?? { watchdogs: [] }, nowMs)
    if (onDue !== this.#usual) {
      this.#usual = onDue
      this.#known.clear()
      this.#isWhole = false
    }
    if (this.#isWhole && streams.revision === this.#tableRevision && nowMs < this.#untilMs) return
    this.#tableRevision = streams.revision
    const before = this.#shown(streams, nowMs)
    if (before.unread.length === 0 || this.#data.watchdog.next.length === 0) this.#put(before)
    const unread = before.unread.slice(0, READS_PER_POLL)
    for (let at = 0; at < unread.length; at += READS_AT_ONCE) {
      await Promise.all(unread.slice(at, at + READS_AT_ONCE).map(entry => this.#read(entry, signal)))
    }
    this.#isWhole = before.unread.length === unread.length
    const shown = unread.length === 0 ? before : this.#shown(streams, nowMs)
    this.#untilMs = shown.untilMs
    if (unread.length > 0) this.#put(shown)
  }

  /** Streams of which only limits are left that nobody ends do not take the place of others. */
  #shown(streams: StreamTable, nowMs: number): ShownLimits {
    const notified: StreamLimit[] = []
    const candidates: { readonly entry: StreamEntry; readonly row: StreamLimit }[] = []
    let untilMs = Number.POSITIVE_INFINITY
    for (const entry of streams.values()) {
      const { name: stream, item } = entry
      const dueMs = item.summary?.dueMs
      if (dueMs === undefined) continue
      const limits = this.#limitsOf(entry)
      const passed = limits?.filter(limit => isOnlyTold(limit, nowMs)) ?? []
      for (const { action, dueMs } of limits ?? [])
        if (action === 'notify' && dueMs > nowMs) untilMs = Math.min(untilMs, dueMs)
      for (const limit of passed) notified.push({ stream, dueMs: limit.dueMs, limit })
      const limit = limits?.find(one => !isOnlyTold(one, nowMs))
      if (limit === undefined && passed.length > 0) continue
      const isUnknown = limits !== undefined && limit === undefined
      candidates.push({ entry, row: { stream, dueMs: limit?.dueMs ?? dueMs, limit, ...(isUnknown && { isUnknown }) } })
    }
    const next = firstOf(candidates, NEXT_SHOWN, (a, b) => bySoonest(a.row, b.row))
    return {
      untilMs,
      next: next.map(({ row }) => row),
      notified: firstOf(notified, NEXT_SHOWN, (a, b) => bySoonest(b, a)),
      unread: next.flatMap(({ entry }) => (this.#limitsOf(entry) === undefined ? [entry] : [])),
    }
  }

  #limitsOf({ name, item }: StreamEntry): readonly EventLimit[] | undefined {
    const known = this.#known.get(name)
    return known?.etag === item.listed.etag ? known.limits : undefined
  }

  async #read({ name, item }: StreamEntry, signal: AbortSignal): Promise<void> {
    const { etag } = item.listed
    try {
      const view = await readStream(this.#store, name, signal)
      this.#known.set(name, { etag, limits: view === undefined ? [] : eventLimits(view, this.#usual) })
    } catch (error) {
      if (!(error instanceof StreamFault)) throw error
      this.#known.set(name, { etag, limits: [] })
    }
  }

  #put({ next, notified }: ShownLimits): void {
    const { watchdog } = this.#data
    if (isEqual(next, watchdog.next) && isEqual(notified, watchdog.notified)) return
    this.#data.putWatchdog({ next, notified })
  }
}

/** A limit that has passed and is only told of: a watchdog leaves the event open. */
function isOnlyTold({ action, dueMs }: EventLimit, nowMs: number): boolean {
  return action === 'notify' && dueMs <= nowMs
}

function bySoonest(a: StreamLimit, b: StreamLimit): number {
  return a.dueMs - b.dueMs || compareNames(a.stream, b.stream)
}

function isEqual(a: readonly StreamLimit[], b: readonly StreamLimit[]): boolean {
  return a.length === b.length && JSON.stringify(a) === JSON.stringify(b)
}

import { StoreUnreachable, UnreadableBlob } from '../store/errors.ts'
import type { EventStore } from '../store/store.ts'
import { StreamFault } from '../stream/errors.ts'
import { summarize } from '../stream/summarize.ts'
import type { Summary } from '../stream/summary.ts'
import { readAhead } from '../util/read-ahead.ts'
import { ownText } from '../util/strings.ts'
import { readStream, type StreamView } from './read-stream.ts'
import { type Unreadable, unreadableOf } from './summaries.ts'
import { eventVerdict, streamVerdict, type WaitTarget } from './wait-target.ts'
import type { AwaitedStream, LastSeen, WaitItem, WaitOptions } from './wait-types.ts'
import type { WatchedStream } from './watch/watched.ts'

const READS_AT_ONCE = 8

/** The streams that are waited for, from look to look. */
export class Awaited {
  readonly #store: EventStore
  readonly #target: WaitTarget
  readonly #options: WaitOptions
  readonly #open = new Map<string, AwaitedStream>()
  /** Moved, and not read since: of an event only the document tells. Survives an outage. */
  readonly #unread = new Set<string>()
  #news: WaitItem[] = []

  constructor(store: EventStore, target: WaitTarget, names: readonly string[], options: WaitOptions) {
    this.#store = store
    this.#target = target
    this.#options = options
    for (const name of names) this.#open.set(name, { name, state: 'missing' })
  }

  get open(): ReadonlyMap<string, AwaitedStream> {
    return this.#open
  }

  /** Takes note of what moved. */
  note(streams: readonly WatchedStream[]): void {
    for (const { listed, summary, fault } of streams) {
      const { name } = listed
      if (!this.#open.has(name)) continue
      if (fault !== undefined) this.#unreadable(name, fault)
      else if (this.#target.kind === 'event') this.#unread.add(name)
      else this.#settle({ name, state: streamVerdict(this.#target.end, summary), ...lastOf(summary) })
    }
  }

  /** They are not there any more. */
  remove(names: readonly string[]): void {
    for (const name of names) {
      this.#unread.delete(name)
      const before = this.#open.get(name)
      if (before === undefined) continue
      if (this.#options.mayAppear) this.#open.set(name, { name, state: 'missing' })
      else this.#settle({ ...before, state: 'removed' })
    }
  }

  /** Reads what has to be read. Returns why the store did not answer, if so: the rest is read at the next look. */
  async read(): Promise<unknown> {
    const { signal } = this.#options
    try {
      const read = (name: string) => this.#read(name, signal)
      for await (const done of readAhead([...this.#unread], READS_AT_ONCE, read)) {
        if (done !== undefined) this.#unread.delete(done)
      }
      return undefined
    } catch (cause) {
      if (signal?.aborted) return undefined
      if (cause instanceof StoreUnreachable) return cause
      throw cause
    }
  }

  /** What has come about since the last time. */
  *news(): Generator<WaitItem> {
    const news = this.#news
    this.#news = []
    yield* news
  }

  /**
   * A stream that vanished since it was listed is missed by the next look. `undefined`: it is to be read again although its
   * ETag stays, as when it comes back from an archive.
   */
  async #read(name: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    try {
      const view = await readStream(this.#store, name, signal)
      if (view !== undefined && this.#target.kind === 'event') this.#settle(sightOf(view, this.#target))
    } catch (error) {
      if (!(error instanceof StreamFault)) throw error
      this.#unreadable(name, unreadableOf(error))
      if (error instanceof UnreadableBlob) return undefined
    }
    return name
  }

  #unreadable(name: string, fault: Unreadable): void {
    const before = this.#open.get(name)
    if (before?.state === 'unreadable') return
    this.#open.set(name, { ...before, name, state: 'unreadable' })
    this.#news.push({ kind: 'unreadable', stream: name, ...fault })
  }

  #settle(stream: AwaitedStream): void {
    if (stream.state === 'open') {
      this.#open.set(stream.name, stream)
      return
    }
    this.#open.delete(stream.name)
    this.#news.push({ kind: 'ended', stream })
  }
}

function sightOf(view: StreamView, { event: id, status }: WaitTarget & { kind: 'event' }): AwaitedStream {
  const { name, document, stream, stored, nowMs } = view
  const summary =
    document.events.length === 0
      ? undefined
      : summarize(document, { lastModifiedMs: stored.modifiedMs, nowMs, lastBy: '' })
  const found = stream.find(id)?.status
  return {
    name,
    state: eventVerdict(id, status, stream),
    event: { id, status: found === undefined ? undefined : ownText(found) },
    ...lastOf(summary),
  }
}

/** A listing's answer, megabytes of it, lives as long as a text that was cut out of it. */
function lastOf(summary: Summary | undefined): { last?: LastSeen } {
  if (summary === undefined) return {}
  const { status, outcome, failedId, failure, dueMs, waitingOn } = summary
  return {
    last: {
      status: ownText(status),
      outcome,
      failedId: ownText(failedId),
      failure: ownText(failure),
      dueMs,
      waitingOn: waitingOn.map(ownText),
    },
  }
}

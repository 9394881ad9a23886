import { StoreUnreachable, UnreadableBlob } from '../store/errors.ts'
import type { StreamStore } from '../store/store.ts'
import { StreamFault } from '../stream/errors.ts'
import { isFinal } from '../stream/event.ts'
import type { EventStream } from '../stream/event-stream.ts'
import { summarize } from '../stream/summarize.ts'
import type { Summary } from '../stream/summary.ts'
import { readAhead } from '../util/concurrency.ts'
import { ownText } from '../util/strings.ts'
import { readStream, type StreamView } from './read-stream.ts'
import type { Selection } from './selection.ts'
import { type Unreadable, unreadableOf } from './summaries.ts'
import { type WatchedStream, watch } from './watch/watch.ts'

/**
 * Waits until every stream of the selection has ended, as asked for or otherwise. Which streams a filter selects is
 * decided by the first look at which it matches any. Ends then, and when the signal aborts.
 * @throws the store's faults; `StoreUnreachable` only if the store does not answer at the first look
 */
export async function* waitFor(
  store: StreamStore,
  selection: Selection,
  target: WaitTarget,
  options: WaitOptions,
): AsyncGenerator<WaitItem> {
  const names = selection.kind === 'filter' ? yield* matching(store, selection, options) : [...new Set(selection.names)]
  if (names === undefined) return
  const awaited = new WaitState(store, target, names, options)
  const outage = new Outage(selection.kind === 'filter')
  for await (const item of watch(store, { kind: 'list', names }, options)) {
    if (item.kind === 'moved') awaited.note(item.streams)
    else if (item.kind === 'gone') awaited.remove(item.names)
    else if (item.kind === 'interrupted') yield* outage.begin(item.cause)
    if (item.kind !== 'looked') continue
    if (item.first && item.missing.length > 0) {
      if (selection.kind !== 'filter' && !options.mayAppear) return yield { kind: 'missing', names: item.missing }
      awaited.remove(item.missing)
    }
    const cause = await awaited.read()
    yield* cause === undefined ? outage.end() : outage.begin(cause)
    yield* awaited.news()
    yield { kind: 'looked', total: names.length, open: awaited.open }
    if (awaited.open.size === 0) return
  }
  yield* awaited.news()
}

/** The names that a filter matches. `undefined` when waiting has ended with that. */
async function* matching(
  store: StreamStore,
  selection: Selection,
  options: WaitOptions,
): AsyncGenerator<WaitItem, readonly string[] | undefined> {
  const names: string[] = []
  const outage = new Outage(false)
  for await (const item of watch(store, selection, options)) {
    if (item.kind === 'moved') {
      for (const { listed, fault } of item.streams) {
        const name = ownText(listed.name)
        // What no stream can be called will never end.
        if (fault?.code === 'bad-name') yield { kind: 'unreadable', stream: name, ...fault }
        else names.push(name)
      }
    }
    if (item.kind === 'interrupted') yield* outage.begin(item.cause)
    else if (item.kind === 'looked') {
      if (names.length > 0) return [...new Set(names)]
      if (!options.mayAppear) return yield { kind: 'no-match' }
      yield* outage.end()
      yield { kind: 'looked', total: 0, open: NONE }
    }
  }
  return undefined
}

const NONE: ReadonlyMap<string, AwaitedStream> = new Map()

/** Tells an outage once. A store that does not answer at the first look is more likely a wrong address. */
class Outage {
  #hasAnswered: boolean
  #isOut = false

  constructor(hasAnswered: boolean) {
    this.#hasAnswered = hasAnswered
  }

  *begin(cause: unknown): Generator<WaitItem> {
    if (!this.#hasAnswered) throw cause
    if (!this.#isOut) yield { kind: 'interrupted', cause }
    this.#isOut = true
  }

  *end(): Generator<WaitItem> {
    this.#hasAnswered = true
    if (this.#isOut) yield { kind: 'resumed' }
    this.#isOut = false
  }
}

const READS_AT_ONCE = 8

/** The streams that are waited for, from look to look. */
class WaitState {
  readonly #store: StreamStore
  readonly #target: WaitTarget
  readonly #options: WaitOptions
  readonly #open = new Map<string, AwaitedStream>()
  /** Moved, and not read since: of an event only the document tells. Survives an outage. */
  readonly #unread = new Set<string>()
  #news: WaitItem[] = []

  constructor(store: StreamStore, target: WaitTarget, names: readonly string[], options: WaitOptions) {
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

interface WaitOptions {
  /** From the start of one look to the start of the next, ms. */
  readonly intervalMs: number
  /** Waits for streams that do not exist yet, or any more, and for a filter to match. */
  readonly mayAppear?: boolean
  readonly signal?: AbortSignal
}

/** What one sees while waiting. */
export type WaitItem =
  /** These names do not exist: waiting ends. */
  | { readonly kind: 'missing'; readonly names: readonly string[] }
  /** The filter matches no stream: waiting ends. */
  | { readonly kind: 'no-match' }
  /** A stream is where it was asked to be, or cannot come there any more. Each ends once, whatever becomes of it later. */
  | { readonly kind: 'ended'; readonly stream: AwaitedStream }
  /** Its document cannot be read. It is waited for all the same: its writer may mend it. Said once until it can be read. */
  | ({ readonly kind: 'unreadable'; readonly stream: string } & Unreadable)
  /** A look has ended. `open` is what is still waited for; it changes with the next look. */
  | { readonly kind: 'looked'; readonly total: number; readonly open: ReadonlyMap<string, AwaitedStream> }
  /** The store does not answer; it is asked again each interval. Said once per outage. */
  | { readonly kind: 'interrupted'; readonly cause: unknown }
  | { readonly kind: 'resumed' }

/** A stream that is or was waited for. */
export interface AwaitedStream {
  readonly name: string
  /** `missing`: not there yet; `removed`: not there any more; `unreadable`: its document cannot be read now. */
  readonly state: 'met' | 'otherwise' | 'removed' | 'open' | 'missing' | 'unreadable'
  /** As it was last seen; absent before it was. */
  readonly last?: LastSeen
  /** The event that is waited for; its status is `undefined` as long as it is not there. */
  readonly event?: { readonly id: string; readonly status: string | undefined }
}

/** What is known of a stream, in memory of its own. */
type LastSeen = Pick<Summary, 'status' | 'outcome' | 'failedId' | 'failure' | 'dueMs' | 'waitingOn'>

/** What is waited for. */
export type WaitTarget =
  | { readonly kind: 'stream'; readonly end: StreamEnd }
  /** `done` is any final status. */
  | { readonly kind: 'event'; readonly event: string; readonly status: string }

/**
 * How a stream may end: `success`, completed without errors; `completed`, with or without; `done`, whichever way;
 * `canceled` and `aborted`.
 */
export type StreamEnd = 'success' | 'completed' | 'done' | 'canceled' | 'aborted'

/** `otherwise`: it ended, but not as asked for; only a retry could still bring that about. */
export type WaitVerdict = 'met' | 'otherwise' | 'open'

/** Whether a stream has ended as asked for. One that was not started is open. */
export function streamVerdict(end: StreamEnd, summary: Pick<Summary, 'status' | 'outcome'> | undefined): WaitVerdict {
  if (summary === undefined || !isFinal(summary)) return 'open'
  const { status, outcome } = summary
  if (end === 'done') return 'met'
  if (end === 'success') return status === 'completed' && outcome === '' ? 'met' : 'otherwise'
  return status === end ? 'met' : 'otherwise'
}

/**
 * Whether an event has the status asked for. When the stream has ended, what is open or not there does not come any
 * more. `init` and `inprocess` pass: they are met only if they are seen.
 */
export function eventVerdict(event: string, status: string, stream: EventStream): WaitVerdict {
  const found = stream.find(event)
  if (found !== undefined) {
    const final = isFinal(found)
    if (found.status === status || (status === 'done' && final)) return 'met'
    if (final) return 'otherwise'
  }
  return stream.done ? 'otherwise' : 'open'
}

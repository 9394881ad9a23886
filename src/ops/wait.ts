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
import { type Unreadable, unreadableOf } from './read-summary.ts'
import type { Selection } from './selection.ts'
import { type WatchedStream, watch } from './watch/watch.ts'

/**
 * Waits until every stream of the selection has ended, as wanted or otherwise. A filter selects the streams of the
 * first poll with a match. Ends then, and when the signal aborts.
 * @throws the store's faults; `StoreUnreachable` only at the first poll
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
    if (item.kind === 'moved') awaited.record(item.streams)
    else if (item.kind === 'gone') awaited.remove(item.names)
    else if (item.kind === 'interrupted') yield* outage.begin(item.cause)
    if (item.kind !== 'polled') continue
    if (item.first && item.missing.length > 0) {
      if (selection.kind !== 'filter' && !options.mayAppear) return yield { kind: 'missing', names: item.missing }
      awaited.remove(item.missing)
    }
    const cause = await awaited.read()
    yield* cause === undefined ? outage.end() : outage.begin(cause)
    yield* awaited.takeItems()
    yield { kind: 'polled', total: names.length, open: awaited.open }
    if (awaited.open.size === 0) return
  }
  yield* awaited.takeItems()
}

/** The names that a filter matches; `undefined` if waiting has ended. */
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
        // A stream with an invalid name can never end.
        if (fault?.code === 'bad-name') yield { kind: 'unreadable', stream: name, ...fault }
        else names.push(name)
      }
    }
    if (item.kind === 'interrupted') yield* outage.begin(item.cause)
    else if (item.kind === 'polled') {
      if (names.length > 0) return [...new Set(names)]
      if (!options.mayAppear) return yield { kind: 'no-match' }
      yield* outage.end()
      yield { kind: 'polled', total: 0, open: NONE }
    }
  }
  return undefined
}

const NONE: ReadonlyMap<string, AwaitedStream> = new Map()

/** Reports an outage once. A store that does not answer at the first poll is more likely a wrong address. */
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

/** The awaited streams between polls. */
class WaitState {
  readonly #store: StreamStore
  readonly #target: WaitTarget
  readonly #options: WaitOptions
  readonly #open = new Map<string, AwaitedStream>()
  /** Streams that moved and are not read yet: the state of an event is only in the document. Survives an outage. */
  readonly #unread = new Set<string>()
  #items: WaitItem[] = []

  constructor(store: StreamStore, target: WaitTarget, names: readonly string[], options: WaitOptions) {
    this.#store = store
    this.#target = target
    this.#options = options
    for (const name of names) this.#open.set(name, { name, state: 'missing' })
  }

  get open(): ReadonlyMap<string, AwaitedStream> {
    return this.#open
  }

  /** Records the streams that moved. */
  record(streams: readonly WatchedStream[]): void {
    for (const { listed, summary, fault } of streams) {
      const { name } = listed
      if (!this.#open.has(name)) continue
      if (fault !== undefined) this.#unreadable(name, fault)
      else if (this.#target.kind === 'event') this.#unread.add(name)
      else this.#settle({ name, state: streamVerdict(this.#target.end, summary), ...lastState(summary) })
    }
  }

  /** Records the streams that are gone. */
  remove(names: readonly string[]): void {
    for (const name of names) {
      this.#unread.delete(name)
      const before = this.#open.get(name)
      if (before === undefined) continue
      if (this.#options.mayAppear) this.#open.set(name, { name, state: 'missing' })
      else this.#settle(removed(before))
    }
  }

  /** Reads the streams that moved. Returns the cause of an outage: the rest is then read at the next poll. */
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

  /** The items since the last call. */
  *takeItems(): Generator<WaitItem> {
    const items = this.#items
    this.#items = []
    yield* items
  }

  /**
   * Reads one stream. The next poll reports a stream that was removed since the listing. Returns `undefined` to read it
   * again even if its ETag stays, as when it returns from an archive.
   */
  async #read(name: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    try {
      const view = await readStream(this.#store, name, signal)
      if (view !== undefined && this.#target.kind === 'event') this.#settle(awaitedEventIn(view, this.#target))
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
    this.#items.push({ kind: 'unreadable', stream: name, ...fault })
  }

  #settle(stream: AwaitedStream): void {
    if (stream.state === 'open') {
      this.#open.set(stream.name, stream)
      return
    }
    this.#open.delete(stream.name)
    this.#items.push({ kind: 'ended', stream })
  }
}

function awaitedEventIn(view: StreamView, { event: id, status }: WaitTarget & { kind: 'event' }): AwaitedStream {
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
    ...lastState(summary),
  }
}

/** Copies of the texts, as a text sliced from a listing's answer keeps the whole answer in memory. */
function lastState(summary: Summary | undefined): { last?: LastState } {
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
  /** Time between the starts of two polls, ms. */
  readonly intervalMs: number
  /** Also waits for missing and removed streams, and for a filter to match. */
  readonly mayAppear?: boolean
  readonly signal?: AbortSignal
}

/** An item of `waitFor`. */
export type WaitItem =
  /** These streams do not exist: waiting ends. */
  | { readonly kind: 'missing'; readonly names: readonly string[] }
  /** The filter matches no stream: waiting ends. */
  | { readonly kind: 'no-match' }
  /** A stream has reached the wanted state, or no longer can. Yielded once per stream, whatever happens to it later. */
  | { readonly kind: 'ended'; readonly stream: AwaitedStream }
  /** The document is unreadable. Waiting continues, as its writer may repair it. Yielded once until it is readable. */
  | ({ readonly kind: 'unreadable'; readonly stream: string } & Unreadable)
  /** The end of a poll. `open`: the streams that are still awaited; it changes with the next poll. */
  | { readonly kind: 'polled'; readonly total: number; readonly open: ReadonlyMap<string, AwaitedStream> }
  /** The store does not answer; the next poll tries again. Yielded once per outage. */
  | { readonly kind: 'interrupted'; readonly cause: unknown }
  | { readonly kind: 'resumed' }

/** An awaited stream. */
export interface AwaitedStream {
  readonly name: string
  /** `missing`: not created yet; `removed`: removed since; `unreadable`: its document is unreadable now. */
  readonly state: 'met' | 'otherwise' | 'removed' | 'open' | 'missing' | 'unreadable'
  /** Its last known state; absent before the first. */
  readonly last?: LastState
  /** The awaited event; `status` is `undefined` until it exists. */
  readonly event?: { readonly id: string; readonly status: string | undefined }
}

/** The last known state of a stream, copied from the listing. */
type LastState = Pick<Summary, 'status' | 'outcome' | 'failedId' | 'failure' | 'dueMs' | 'waitingOn'>

/** The state to wait for. */
export type WaitTarget =
  | { readonly kind: 'stream'; readonly end: StreamEnd }
  /** `done` is any final status. */
  | { readonly kind: 'event'; readonly event: string; readonly status: string }

/**
 * The wanted end of a stream: `success`, completed without errors; `completed`, with or without errors; `done`, any
 * end; `canceled`; `aborted`.
 */
export type StreamEnd = 'success' | 'completed' | 'done' | 'canceled' | 'aborted'

/** `otherwise`: it ended, but not as wanted; only a retry could change that. */
export type WaitVerdict = 'met' | 'otherwise' | 'open'

/** Whether a stream has ended as wanted. A stream that was not started is open. */
export function streamVerdict(end: StreamEnd, summary: Pick<Summary, 'status' | 'outcome'> | undefined): WaitVerdict {
  if (summary === undefined || !isFinal(summary)) return 'open'
  const { status, outcome } = summary
  if (end === 'done') return 'met'
  if (end === 'success') return status === 'completed' && outcome === '' ? 'met' : 'otherwise'
  return status === end ? 'met' : 'otherwise'
}

/**
 * Whether an event has the wanted status. Once the stream has ended, an open or missing event cannot reach it any more.
 * `init` and `inprocess` are transient: they count only if a poll finds them.
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

/** What is gone waits for nothing and is not due. */
function removed({ last: _, ...before }: AwaitedStream): AwaitedStream {
  return { ...before, state: 'removed' }
}

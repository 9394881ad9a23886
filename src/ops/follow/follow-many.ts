import { StoreUnreachable } from '../../store/errors.ts'
import type { StreamStore } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'
import { readAhead } from '../../util/concurrency.ts'
import { type JournalEntry, readStream } from '../read-stream.ts'
import { type Unreadable, unreadableOf } from '../read-summary.ts'
import type { Selection } from '../selection.ts'
import { type WatchedStream, watch } from '../watch/watch.ts'
import { type FollowedState, followedState, type JournalGap, Position } from './follow.ts'
import { Timeline } from './timeline.ts'

/**
 * Follows the transactions of many streams: the wanted past ones, then new ones poll by poll, sorted by time, stream
 * and version within a poll. No stream has a gap: the journal is complete and has all transactions between two polls. A
 * stream that matches later is followed from then on, a new one from its beginning. A poll of unchanged streams costs
 * one listing.
 *
 * Memory: some 200 bytes for each stream, and the `Timeline` of the past. Ends when the signal aborts.
 * @throws the store's faults; `StoreUnreachable` only in the first poll
 */
export async function* followMany(
  store: StreamStore,
  selection: Selection,
  options: FollowManyOptions,
): AsyncGenerator<FollowManyItem> {
  try {
    yield* followed(store, selection, options)
  } catch (error) {
    if (options.signal?.aborted !== true) throw error
  }
}

async function* followed(
  store: StreamStore,
  selection: Selection,
  options: FollowManyOptions,
): AsyncGenerator<FollowManyItem> {
  const { intervalMs, signal } = options
  const follower = new Follower(store, options)
  let isFirst = true
  const polls = { intervalMs: intervalMs ?? 0, once: intervalMs === undefined, ...(signal && { signal }) }
  for await (const item of watch(store, selection, polls)) {
    switch (item.kind) {
      case 'moved':
        yield* follower.record(item.streams)
        break
      case 'gone':
        follower.recordRemoved(item.names)
        break
      case 'interrupted':
        if (isFirst) throw item.cause
        yield* follower.interrupt(item.cause)
        break
      case 'resumed':
        // reported once the documents could be read too
        break
      case 'polled':
        if (isFirst && item.missing.length > 0) yield { kind: 'missing', names: item.missing }
        yield* follower.endPoll()
        isFirst = false
        break
      default:
        item satisfies never
    }
  }
}

/** A stream whose document must be read. */
interface Due {
  readonly name: string
  /** Absent for a position at the beginning, which is made after reading. */
  readonly position?: Position
}

/** The result of a read, without the document: several are in flight at a time. */
type Read =
  | { readonly kind: 'read'; readonly due: Due; readonly found: FollowedState }
  | { readonly kind: 'missing'; readonly due: Due }
  | { readonly kind: 'unreadable'; readonly due: Due; readonly cause: StreamFault }
  | { readonly kind: 'unreachable'; readonly cause: StoreUnreachable }

/** Maximum number of concurrent reads. */
const READS_AT_ONCE = 8

/** Number of due streams that starts reading. */
const DUE_AT_ONCE = 256

/** Tolerance, ms: a transaction has the writer's time, the stream the store's, on Azure in whole seconds. */
const CLOCKS_DIFFER_MS = 2_000

/** The positions in many streams, and the streams to read. */
class Follower {
  readonly #store: StreamStore
  readonly #options: FollowManyOptions
  /** The positions in the streams that were read; for the others see `WatchedStream.before`. */
  readonly #positions = new Map<string, Position>()
  /** Survives an outage, as `watch` reports each change once. */
  readonly #due = new Map<string, Due>()
  /** The streams of the first poll, if only the latest transactions are wanted. */
  readonly #recent = new RecentStreams()
  #timeline: Timeline
  #gone: string[] = []
  #broken = 0
  #streams = 0
  #isFirst = true
  /** Why not all streams could be read in this poll. */
  #outage: StoreUnreachable | undefined
  /** From the first outage until all streams could be read again. */
  #isOut = false

  constructor(store: StreamStore, options: FollowManyOptions) {
    this.#store = store
    this.#options = options
    this.#timeline = new Timeline({ keep: options.past.latest })
  }

  /** Records streams that moved, and reads them when there are many. */
  async *record(streams: readonly WatchedStream[]): AsyncGenerator<FollowManyItem> {
    if (this.#isFirst) this.#streams += streams.length
    for (const stream of streams) {
      if (!this.#isFirst) this.#noteMoved(stream)
      else yield* this.#noteFirst(stream)
    }
    if (this.#due.size >= DUE_AT_ONCE) yield* this.#readDue(this.#due.values())
  }

  /** Forgets removed streams: a new stream of the name starts at the beginning. */
  recordRemoved(names: readonly string[]): void {
    for (const name of names) {
      this.#positions.delete(name)
      this.#due.delete(name)
    }
    this.#gone.push(...names)
  }

  *interrupt(cause: unknown): Generator<FollowManyItem> {
    if (!this.#isOut) yield { kind: 'interrupted', cause }
    this.#isOut = true
  }

  /** The end of a poll: reads the due streams and yields the new transactions. */
  async *endPoll(): AsyncGenerator<FollowManyItem> {
    const latest = this.#recent.latestFirst(() => this.#timeline.floorMs - CLOCKS_DIFFER_MS)
    yield* this.#readDue(latest)
    yield* this.#readDue(this.#due.values())
    if (this.#outage !== undefined && this.#isFirst) throw this.#outage
    for (const entry of this.#timeline.entries()) yield { kind: 'transaction', ...entry }
    yield* this.#farewell()
    this.#timeline = new Timeline({ keep: Number.POSITIVE_INFINITY })
    this.#isFirst = false
    this.#outage = undefined
    this.#broken = 0
    this.#gone = []
    yield { kind: 'polled', streams: this.#streams }
  }

  #noteMoved(stream: WatchedStream): void {
    const { name } = stream.listed
    const position = this.#positionOf(stream)
    if (!isQuiet(stream, position)) this.#due.set(name, { name, position })
  }

  *#noteFirst({ listed: { name, modifiedMs }, fault }: WatchedStream): Generator<FollowManyItem> {
    const { latest, sinceMs = Number.NEGATIVE_INFINITY } = this.#options.past
    if (latest === 0) {
      if (fault !== undefined) yield { kind: 'unreadable', stream: name, ...fault }
    } else if (modifiedMs >= sinceMs - CLOCKS_DIFFER_MS) {
      if (latest === Number.POSITIVE_INFINITY) this.#due.set(name, { name })
      else this.#recent.add(name, modifiedMs)
    }
  }

  /** Reads due streams. After an outage in this poll nothing more is read; the streams stay due. */
  async *#readDue(dues: Iterable<Due>): AsyncGenerator<FollowManyItem> {
    if (this.#outage !== undefined) return
    for await (const read of readAhead(dues, READS_AT_ONCE, due => this.#read(due))) {
      if (read.kind === 'unreachable') {
        this.#outage = read.cause
        return
      }
      const { name } = read.due
      this.#due.delete(name)
      if (read.kind === 'unreadable') yield { kind: 'unreadable', stream: name, ...unreadableOf(read.cause) }
      else if (read.kind === 'read') yield* this.#take(read)
    }
  }

  /** Adds the new transactions of a stream to the timeline. */
  *#take({ due, found }: Extract<Read, { kind: 'read' }>): Generator<FollowManyItem> {
    const { name, position = startPosition() } = due
    const { transactions, broken } = position.advance(found)
    this.#timeline.add(name, this.#wanted(name, transactions), found.modifiedMs)
    if (this.#options.intervalMs !== undefined) this.#positions.set(name, position)
    if (broken === undefined) return
    this.#broken++
    yield { kind: 'broken', stream: name, why: broken }
  }

  #wanted(stream: string, transactions: readonly JournalEntry[]): readonly JournalEntry[] {
    const { keeps = () => true, past } = this.#options
    const sinceMs = this.#isFirst ? past.sinceMs : undefined
    return transactions.filter(tx => !(sinceMs !== undefined && Date.parse(tx.at) < sinceMs) && keeps(stream, tx))
  }

  *#farewell(): Generator<FollowManyItem> {
    if (this.#outage !== undefined) {
      yield* this.interrupt(this.#outage)
    } else if (this.#isOut) {
      yield { kind: 'resumed', broken: this.#broken, gone: this.#gone.length }
      this.#isOut = false
    }
    if (this.#gone.length > 0) yield { kind: 'gone', names: this.#gone }
  }

  async #read(due: Due): Promise<Read> {
    try {
      const view = await readStream(this.#store, due.name, this.#options.signal)
      if (view === undefined) return { kind: 'missing', due }
      return { kind: 'read', due, found: followedState(view) }
    } catch (cause) {
      if (cause instanceof StreamFault) return { kind: 'unreadable', due, cause }
      if (cause instanceof StoreUnreachable) return { kind: 'unreachable', cause }
      throw cause
    }
  }

  #positionOf({ listed, before }: WatchedStream): Position {
    const known = this.#due.get(listed.name)?.position ?? this.#positions.get(listed.name)
    if (known !== undefined) return known
    return before === undefined ? startPosition() : new Position({ ...before, seenMs: before.modifiedMs })
  }
}

function startPosition(): Position {
  return new Position({ version: 0, born: '' })
}

/**
 * Whether a stream has moved without a new version: by a heartbeat, or because it began to pass the filter. Only the
 * summary of the listing proves it: a summary made from a document does not show foreign writes, which have no
 * versions.
 */
function isQuiet({ listed, summary }: WatchedStream, position: Position): boolean {
  return summary !== undefined && summary === listed.summary && position.isAt(summary.version, summary.born)
}

/** The wanted past transactions. */
export interface Past {
  /** Number of latest transactions of all streams together; `Infinity` for all, 0 for none. */
  readonly latest: number
  /** Only transactions at or after this time, epoch ms. */
  readonly sinceMs?: number
}

export interface FollowManyOptions {
  readonly past: Past
  /** Time between the starts of two polls, ms. Without it there is one poll: only existing transactions. */
  readonly intervalMs?: number
  /** Whether a transaction is wanted; `past.latest` counts only those. Default: all. */
  readonly keeps?: (stream: string, tx: JournalEntry) => boolean
  readonly signal?: AbortSignal
}

/** An item of `followMany`. */
export type FollowManyItem =
  | { readonly kind: 'transaction'; readonly stream: string; readonly tx: JournalEntry }
  /** The stream is unreadable. Yielded once for each state; once it is readable, no transaction is missing. */
  | ({ readonly kind: 'unreadable'; readonly stream: string } & Unreadable)
  /** Its journal does not continue from the last known transaction: some may have been missed. */
  | { readonly kind: 'broken'; readonly stream: string; readonly why: JournalGap }
  /** The store does not answer; the next poll tries again. Yielded once per outage. */
  | { readonly kind: 'interrupted'; readonly cause: unknown }
  /**
   * The store answers again, and all transactions since then have been yielded. `broken`, `gone`: number of such
   * streams since the outage.
   */
  | { readonly kind: 'resumed'; readonly broken: number; readonly gone: number }
  /** Removed streams. Their transactions since the last poll are lost. */
  | { readonly kind: 'gone'; readonly names: readonly string[] }
  /** Names of the selection that do not exist; yielded once, before anything else. */
  | { readonly kind: 'missing'; readonly names: readonly string[] }
  /** The end of a poll. `streams`: the number of streams at the first poll. */
  | { readonly kind: 'polled'; readonly streams: number }

/** Streams by the time of their last write, latest first. Stored compactly, as there may be very many. */
class RecentStreams {
  #names: string[] = []
  #timesMs: number[] = []

  add(name: string, modifiedMs: number): void {
    this.#names.push(name)
    this.#timesMs.push(modifiedMs)
  }

  /** Removes and yields them, latest first, while they were written at or after `floorMs`, which is called for each. */
  *latestFirst(floorMs: () => number): Generator<{ readonly name: string; readonly modifiedMs: number }> {
    const names = this.#names
    const timesMs = this.#timesMs
    this.#names = []
    this.#timesMs = []
    const order = Uint32Array.from(names, (_, at) => at).sort((a, b) => (timesMs[b] ?? 0) - (timesMs[a] ?? 0))
    for (const at of order) {
      const modifiedMs = timesMs[at] ?? 0
      if (modifiedMs < floorMs()) return
      yield { name: names[at] ?? '', modifiedMs }
    }
  }
}

import { StoreUnreachable } from '../../store/errors.ts'
import type { StreamStore } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'
import { readAhead } from '../../util/concurrency.ts'
import { type JournalEntry, readStream } from '../read-stream.ts'
import type { Selection } from '../selection.ts'
import { type Unreadable, unreadableOf } from '../summaries.ts'
import { type WatchedStream, watch } from '../watch/watch.ts'
import { type FollowedState, foundIn, type JournalGap, Position } from './follow.ts'
import { Timeline } from './timeline.ts'

/**
 * The transactions of many streams: those of the past that are asked for, then what happens, look by look; those of one
 * look in order of time, then of stream and version. No stream has a gap: its journal is complete, so what happened
 * between two looks is in it. Streams that come to match later join with what they do from then on, new ones from their
 * beginning. A look at streams of which none moved costs one listing.
 *
 * Memory holds some 200 bytes for each stream, and of the past what `Timeline` holds. Ends when the signal aborts.
 * @throws the store's faults; `StoreUnreachable` only in the first look
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
  const looks = { intervalMs: intervalMs ?? 0, once: intervalMs === undefined, ...(signal && { signal }) }
  for await (const item of watch(store, selection, looks)) {
    switch (item.kind) {
      case 'moved':
        yield* follower.note(item.streams)
        break
      case 'gone':
        follower.forget(item.names)
        break
      case 'interrupted':
        if (isFirst) throw item.cause
        yield* follower.interrupt(item.cause)
        break
      case 'resumed':
        // told when the documents could be read too
        break
      case 'looked':
        if (isFirst && item.missing.length > 0) yield { kind: 'missing', names: item.missing }
        yield* follower.tell()
        isFirst = false
        break
      default:
        item satisfies never
    }
  }
}

/** A stream whose document has to be read. */
interface Due {
  readonly name: string
  /** Made when it is read, where it begins at nothing. */
  readonly position?: Position
}

/** Nothing of a document is held but this: several are under way at a time. */
type Read =
  | { readonly kind: 'read'; readonly due: Due; readonly found: FollowedState }
  | { readonly kind: 'missing'; readonly due: Due }
  | { readonly kind: 'unreadable'; readonly due: Due; readonly cause: StreamFault }
  | { readonly kind: 'unreachable'; readonly cause: StoreUnreachable }

/** At most so many documents are read at a time. */
const READS_AT_ONCE = 8

/** So many streams are noted before they are read. */
const DUE_AT_ONCE = 256

/** A transaction carries a time of its writer's, the stream that of the store: on Azure in whole seconds. */
const CLOCKS_DIFFER_MS = 2_000

/** What is known of many streams, and what is to be read of them. */
class Follower {
  readonly #store: StreamStore
  readonly #options: FollowManyOptions
  /** Of the streams that were read; those of the others are what the watch saw of them. */
  readonly #positions = new Map<string, Position>()
  /** Survives an outage: what moved is told by the watch once. */
  readonly #due = new Map<string, Due>()
  /** In the first look, where only the latest transactions are asked for. */
  readonly #candidates = new RecentStreams()
  #timeline: Timeline
  #gone: string[] = []
  #broken = 0
  #streams = 0
  #isFirst = true
  /** Why not all could be read in this look. */
  #outage: StoreUnreachable | undefined
  /** From the first of them on until all could be read again. */
  #isOut = false

  constructor(store: StreamStore, options: FollowManyOptions) {
    this.#store = store
    this.#options = options
    this.#timeline = new Timeline({ keep: options.past.latest })
  }

  /** Takes note of what moved, and reads it when it has become much. */
  async *note(streams: readonly WatchedStream[]): AsyncGenerator<FollowManyItem> {
    if (this.#isFirst) this.#streams += streams.length
    for (const stream of streams) {
      if (!this.#isFirst) this.#noteMoved(stream)
      else yield* this.#noteFirst(stream)
    }
    if (this.#due.size >= DUE_AT_ONCE) yield* this.#readDue(this.#due.values())
  }

  /** Another stream of that name begins anew. */
  forget(names: readonly string[]): void {
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

  /** The end of a look: reads what is still due and tells all that is new. */
  async *tell(): AsyncGenerator<FollowManyItem> {
    const latest = this.#candidates.latestFirst(() => this.#timeline.floorMs - CLOCKS_DIFFER_MS)
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
    yield { kind: 'looked', streams: this.#streams }
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
      else this.#candidates.add(name, modifiedMs)
    }
  }

  /** Nothing is read any more in this look once the store did not answer: what is due stays so. */
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

  /** What is new of a stream goes into the timeline. */
  *#take({ due, found }: Extract<Read, { kind: 'read' }>): Generator<FollowManyItem> {
    const { name, position = beginning() } = due
    const { transactions, broken } = position.news(found)
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
      return { kind: 'read', due, found: foundIn(view) }
    } catch (cause) {
      if (cause instanceof StreamFault) return { kind: 'unreadable', due, cause }
      if (cause instanceof StoreUnreachable) return { kind: 'unreachable', cause }
      throw cause
    }
  }

  #positionOf({ listed, before }: WatchedStream): Position {
    const known = this.#due.get(listed.name)?.position ?? this.#positions.get(listed.name)
    if (known !== undefined) return known
    return before === undefined ? beginning() : new Position({ ...before, seenMs: before.modifiedMs })
  }
}

function beginning(): Position {
  return new Position({ version: 0, born: '' })
}

/**
 * Heartbeats, and a filter that began to let a stream pass, change no version. Only a summary that came with the listing
 * tells: one that was made from a document says nothing of what somebody wrote who keeps no versions.
 */
function isQuiet({ listed, summary }: WatchedStream, position: Position): boolean {
  return summary !== undefined && summary === listed.summary && position.isAt(summary.version, summary.born)
}

/** Which of the transactions there are already. */
export interface Past {
  /** So many of the latest, of all streams together; `Infinity` for all, 0 for none. */
  readonly latest: number
  /** Only those at or after this time, epoch ms. */
  readonly sinceMs?: number
}

export interface FollowManyOptions {
  readonly past: Past
  /** From the start of one look to the start of the next, ms. Without it one look is all: what is there already. */
  readonly intervalMs?: number
  /** Tells which transactions are wanted; `past.latest` counts only those. Default: all. */
  readonly keeps?: (stream: string, tx: JournalEntry) => boolean
  readonly signal?: AbortSignal
}

/** What one sees while following many streams. */
export type FollowManyItem =
  | { readonly kind: 'transaction'; readonly stream: string; readonly tx: JournalEntry }
  /** It cannot be read, and why. Said once for each state of it; as soon as it can be read, nothing of it is missing. */
  | ({ readonly kind: 'unreadable'; readonly stream: string } & Unreadable)
  /** Its transactions do not go on from what was seen last: something may have been missed. */
  | { readonly kind: 'broken'; readonly stream: string; readonly why: JournalGap }
  /** The store does not answer; it is asked again each interval. Said once per outage. */
  | { readonly kind: 'interrupted'; readonly cause: unknown }
  /** It answers again, and all that happened meanwhile was told. `broken`, `gone`: how many streams came so with it. */
  | { readonly kind: 'resumed'; readonly broken: number; readonly gone: number }
  /** These were removed. What they did since the last look went with them. */
  | { readonly kind: 'gone'; readonly names: readonly string[] }
  /** Names of the selection that nothing has; said once, before anything else. */
  | { readonly kind: 'missing'; readonly names: readonly string[] }
  /** One look has ended. `streams`: how many the selection had at the first look. */
  | { readonly kind: 'looked'; readonly streams: number }

/** Streams by the time of their last write, to be asked from the latest on. Packed, as there may be very many. */
class RecentStreams {
  #names: string[] = []
  #timesMs: number[] = []

  add(name: string, modifiedMs: number): void {
    this.#names.push(name)
    this.#timesMs.push(modifiedMs)
  }

  /** Takes them out, the latest first, as long as they were written at or after the time that is asked for each. */
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

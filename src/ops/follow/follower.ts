import { StoreUnreachable } from '../../store/errors.ts'
import type { EventStore } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'
import { readAhead } from '../../util/read-ahead.ts'
import { readStream, type SeenTransaction } from '../read-stream.ts'
import { unreadableOf } from '../summaries.ts'
import type { WatchedStream } from '../watch/watched.ts'
import { Candidates } from './candidates.ts'
import type { FollowManyItem, FollowManyOptions } from './many-types.ts'
import { type Found, foundIn, Position } from './position.ts'
import { Timeline } from './timeline.ts'

/** A stream whose document has to be read. */
interface Due {
  readonly name: string
  /** Made when it is read, where it begins at nothing. */
  readonly position?: Position
}

/** Nothing of a document is held but this: several are under way at a time. */
type Read =
  | { readonly kind: 'read'; readonly due: Due; readonly found: Found }
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
export class Follower {
  readonly #store: EventStore
  readonly #options: FollowManyOptions
  /** Of the streams that were read; those of the others are what the watch saw of them. */
  readonly #positions = new Map<string, Position>()
  /** Survives an outage: what moved is told by the watch once. */
  readonly #due = new Map<string, Due>()
  /** In the first look, where only the latest transactions are asked for. */
  readonly #candidates = new Candidates()
  #timeline: Timeline
  #gone: string[] = []
  #broken = 0
  #streams = 0
  #isFirst = true
  /** Why not all could be read in this look. */
  #outage: StoreUnreachable | undefined
  /** From the first of them on until all could be read again. */
  #isOut = false

  constructor(store: EventStore, options: FollowManyOptions) {
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

  #wanted(stream: string, transactions: readonly SeenTransaction[]): readonly SeenTransaction[] {
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

import { compareNames } from '../store/names.ts'
import { type Moment, type PackedRun, packed, type TimedText, unpacked } from './packed-run.ts'
import type { SeenTransaction } from './read-stream.ts'
import { type Place, TextMemory } from './text-memory.ts'

/** One transaction of one stream. */
export interface TimelineEntry {
  readonly stream: string
  readonly tx: SeenTransaction
}

export interface TimelineOptions {
  /** How many of the latest are kept; `Infinity` for all. */
  readonly keep: number
  /** So many bytes of text are held as they are; what is more is packed. Default 2 MiB. */
  readonly heldBytes?: number
}

const HELD_BYTES = 2 * 1024 * 1024

/** One that is not packed. */
type Held = Moment & Place

/**
 * Puts the transactions of many streams in order of time; what happened at the same time in order of stream and version.
 * In a stream the order of its journal holds, whatever its times say.
 *
 * Holds texts only, up to `heldBytes` as they are and the rest in sorted, packed runs: a transaction of one change
 * takes some 50 bytes there, so a million of them fit into the memory that a program has anyway.
 */
export class Timeline {
  readonly #keep: number
  readonly #heldBytes: number
  #held: Held[] = []
  readonly #texts = new TextMemory()
  readonly #runs: PackedRun[] = []
  #packed = 0
  #floorMs = Number.NEGATIVE_INFINITY

  constructor({ keep, heldBytes = HELD_BYTES }: TimelineOptions) {
    this.#keep = keep
    this.#heldBytes = heldBytes
  }

  /** What is earlier than this, epoch ms, is not among the latest any more. `-Infinity` as long as there is room. */
  get floorMs(): number {
    return this.#floorMs
  }

  /**
   * @param transactions of one stream, in the order of its journal
   * @param modifiedMs stands for the time of a transaction that carries none that can be read
   */
  add(stream: string, transactions: readonly SeenTransaction[], modifiedMs: number): void {
    let atMs = Number.NEGATIVE_INFINITY
    for (const tx of transactions) {
      const readMs = Date.parse(tx.at)
      if (!Number.isNaN(readMs)) atMs = Math.max(atMs, readMs)
      else if (atMs === Number.NEGATIVE_INFINITY) atMs = modifiedMs
      if (atMs < this.#floorMs) continue
      this.#held.push({ atMs, stream, place: placeOf(tx), ...this.#texts.add(JSON.stringify(tx)) })
    }
    // a quarter more than is kept, so that it is sorted rarely
    if (this.#held.length > this.#keep * 1.25 + 64) this.#prune()
    if (this.#texts.used > this.#heldBytes) this.#pack()
  }

  /** Takes out all that is kept, oldest first: once. */
  *entries(): Generator<TimelineEntry> {
    let excess = this.#packed + this.#held.length - this.#keep
    for (const { stream, text } of merged([...this.#runs.map(unpacked), this.#unpacked()])) {
      if (excess-- > 0) continue
      yield { stream, tx: JSON.parse(text) as SeenTransaction }
    }
  }

  #prune(): void {
    this.#held = this.#held.sort(compare).slice(Math.max(0, this.#held.length - this.#keep))
    this.#floorMs = Math.max(this.#floorMs, this.#held[0]?.atMs ?? Number.POSITIVE_INFINITY)
  }

  #pack(): void {
    this.#runs.push(packed(this.#held.sort(compare), place => this.#texts.bytes(place)))
    this.#packed += this.#held.length
    this.#held = []
    this.#texts.clear()
  }

  *#unpacked(): Generator<TimedText> {
    for (const held of this.#held.sort(compare)) yield { ...held, text: this.#texts.text(held) }
  }
}

/** What nobody has recorded yet comes behind the version on which it was found. */
function placeOf({ version, provisional }: SeenTransaction): number {
  return provisional ? version + 0.5 : version
}

function compare(a: Moment, b: Moment): number {
  return a.atMs - b.atMs || compareNames(a.stream, b.stream) || a.place - b.place
}

/** Sorted sequences as one. */
function* merged(sequences: readonly Iterator<TimedText>[]): Generator<TimedText> {
  const heads = sequences.flatMap(sequence => headOf(sequence))
  while (heads.length > 0) {
    let first = 0
    for (let at = 1; at < heads.length; at++) {
      const [a, b] = [heads[at], heads[first]]
      if (a !== undefined && b !== undefined && compare(a.item, b.item) < 0) first = at
    }
    const head = heads[first]
    if (head === undefined) return
    yield head.item
    heads.splice(first, 1, ...headOf(head.rest))
  }
}

interface Head {
  readonly item: TimedText
  readonly rest: Iterator<TimedText>
}

function headOf(rest: Iterator<TimedText>): Head[] {
  const next = rest.next()
  return next.done === true ? [] : [{ item: next.value, rest }]
}

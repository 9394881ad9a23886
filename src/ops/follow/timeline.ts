import { compareNames } from '../../store/names.ts'
import type { JournalEntry } from '../read-stream.ts'

/** One transaction of one stream. */
export interface TimelineEntry {
  readonly stream: string
  readonly tx: JournalEntry
}

export interface TimelineOptions {
  /** Number of latest transactions to keep; `Infinity` for all. */
  readonly keep: number
}

/**
 * Sorts the transactions of many streams by time, then by stream and version. Within a stream the order of its journal
 * holds, even against its times.
 */
export class Timeline {
  readonly #keep: number
  #held: { readonly atMs: number; readonly stream: string; readonly place: number; readonly text: string }[] = []
  #floorMs = Number.NEGATIVE_INFINITY

  constructor({ keep }: TimelineOptions) {
    this.#keep = keep
  }

  /** Transactions earlier than this, epoch ms, are no longer among the latest. `-Infinity` while there is room. */
  get floorMs(): number {
    return this.#floorMs
  }

  /**
   * @param transactions of one stream, in the order of its journal
   * @param modifiedMs the time of transactions without a readable one
   */
  add(stream: string, transactions: readonly JournalEntry[], modifiedMs: number): void {
    let atMs = Number.NEGATIVE_INFINITY
    for (const tx of transactions) {
      const readMs = Date.parse(tx.at)
      if (!Number.isNaN(readMs)) atMs = Math.max(atMs, readMs)
      else if (atMs === Number.NEGATIVE_INFINITY) atMs = modifiedMs
      if (atMs < this.#floorMs) continue
      // An unrecorded foreign write follows the version on which it was found.
      const place = tx.provisional ? tx.version + 0.5 : tx.version
      // A JSON text keeps no part of the document in memory.
      this.#held.push({ atMs, stream, place, text: JSON.stringify(tx) })
    }
    // A quarter more than is kept, so that sorting is rare.
    if (this.#held.length <= this.#keep * 1.25 + 64) return
    this.#held = this.#latest()
    this.#floorMs = Math.max(this.#floorMs, this.#held[0]?.atMs ?? Number.POSITIVE_INFINITY)
  }

  /** The kept transactions, oldest first. */
  *entries(): Generator<TimelineEntry> {
    for (const { stream, text } of this.#latest()) yield { stream, tx: JSON.parse(text) as JournalEntry }
  }

  #latest() {
    this.#held.sort((a, b) => a.atMs - b.atMs || compareNames(a.stream, b.stream) || a.place - b.place)
    return this.#held.slice(Math.max(0, this.#held.length - this.#keep))
  }
}

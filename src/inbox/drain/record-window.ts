import type { PartitionLine } from './line.ts'

/** A line in hand. */
export interface HeldLine {
  readonly line: PartitionLine
  /** It waits for its time (`notBefore`), or behind one of its key that does. */
  waits: boolean
  isDone: boolean
  isDead: boolean
}

/** Records in hand, at most, of one partition. */
const MOST_RECORDS = 2_000
/** Those that wait for their time have a window of their own, so many times as large: they hold up no others. */
const WAITING_WINDOWS = 4

/** The records in hand of a partition, in the order of their places, and the room that they take. */
export class RecordWindow {
  readonly #mostBytes: number
  #entries: HeldLine[] = []
  /** Entries before this one are done and counted. */
  #first = 0
  readonly #ready = { records: 0, bytes: 0 }
  readonly #waiting = { records: 0, bytes: 0 }

  /** @param mostBytes bytes of records in hand, at most */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  get isEmpty(): boolean {
    return this.#first === this.#entries.length
  }

  /** No more should be read for now. */
  get isFull(): boolean {
    const isOver = ({ records, bytes }: { readonly records: number; readonly bytes: number }, windows: number) =>
      records >= windows * MOST_RECORDS || bytes >= windows * this.#mostBytes
    return isOver(this.#ready, 1) || isOver(this.#waiting, WAITING_WINDOWS)
  }

  add(line: PartitionLine, waits: boolean): HeldLine {
    const entry = { line, waits, isDone: false, isDead: false }
    this.#entries.push(entry)
    this.#count(entry, 1)
    return entry
  }

  /** It waits no longer. */
  due(entry: HeldLine): void {
    if (!entry.waits) return
    this.#count(entry, -1)
    entry.waits = false
    this.#count(entry, 1)
  }

  /** Takes out those at the beginning that are done. */
  takeDone(): readonly HeldLine[] {
    const from = this.#first
    while (this.#entries[this.#first]?.isDone) this.#first += 1
    const done = this.#entries.slice(from, this.#first)
    for (const entry of done) this.#count(entry, -1)
    if (this.#first > 1_000) {
      this.#entries = this.#entries.slice(this.#first)
      this.#first = 0
    }
    return done
  }

  #count({ line, waits }: HeldLine, sign: 1 | -1): void {
    const room = waits ? this.#waiting : this.#ready
    room.records += sign
    room.bytes += sign * line.bytes
  }
}

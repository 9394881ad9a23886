import { ownText } from '../../util/strings.ts'

const FIRST_ROOM = 1_024
/** Of a stream that nobody was told of. */
export const NO_VERSION = -1

/** What is kept of each stream, by the number of its row: some 150 bytes a stream with its name, instead of 400 in objects. */
export class Columns {
  /** Of the ETag; 0 for none. */
  mark = new Float64Array(FIRST_ROOM)
  /** When its first limit ends, and when it has to be looked at, epoch ms. */
  due = new Float64Array(FIRST_ROOM)
  nextLook = new Float64Array(FIRST_ROOM)
  /** Since when it is known to stand as it does, by the clock that only goes forward. */
  knownSince = new Float64Array(FIRST_ROOM)
  /** The version that observers of moves were told last. */
  toldVersion = new Float64Array(FIRST_ROOM)
  /** Open events. */
  open = new Uint32Array(FIRST_ROOM)
  /** The sweep that met it last. */
  sweep = new Uint32Array(FIRST_ROOM)
  status = new Uint16Array(FIRST_ROOM)
  /** 1: observers of moves were told that it stands as it does. */
  isTold = new Uint8Array(FIRST_ROOM)

  /** Makes room for so many rows. */
  fit(rows: number): void {
    if (rows <= this.mark.length) return
    const room = Math.max(rows, this.mark.length * 2)
    this.mark = grown(this.mark, new Float64Array(room))
    this.due = grown(this.due, new Float64Array(room))
    this.nextLook = grown(this.nextLook, new Float64Array(room))
    this.knownSince = grown(this.knownSince, new Float64Array(room))
    this.toldVersion = grown(this.toldVersion, new Float64Array(room))
    this.open = grown(this.open, new Uint32Array(room))
    this.sweep = grown(this.sweep, new Uint32Array(room))
    this.status = grown(this.status, new Uint16Array(room))
    this.isTold = grown(this.isTold, new Uint8Array(room))
  }
}

type Column = Float64Array | Uint32Array | Uint16Array | Uint8Array

function grown<Kind extends Column>(from: Kind, to: Kind): Kind {
  to.set(from)
  return to
}

const MAX_STATUSES = 50
const OTHER = 'other'

/** Statuses by their numbers: the five, and what foreign writers invent. 0 is none yet. */
export class Statuses {
  readonly #names: string[] = ['', OTHER]

  nameOf(number: number): string {
    return this.#names[number] ?? ''
  }

  numberOf(status: string): number {
    const known = this.#names.indexOf(status)
    if (known >= 0) return known
    // a store of strangers may have a status of its own in each stream
    if (this.#names.length > MAX_STATUSES) return this.#names.indexOf(OTHER)
    return this.#names.push(status) - 1
  }
}

/** Streams by the number of their row. The rows of those that are gone are given to others. */
export class Rows {
  readonly #rows = new Map<string, number>()
  readonly #names: (string | undefined)[] = []
  readonly #free: number[] = []

  /** How many streams there are. */
  get size(): number {
    return this.#rows.size
  }

  /** All rows are below this. */
  get end(): number {
    return this.#names.length
  }

  at(name: string): number | undefined {
    return this.#rows.get(name)
  }

  /** `undefined` for a row that is free. */
  nameOf(row: number): string | undefined {
    return this.#names[row]
  }

  add(name: string): number {
    const row = this.#free.pop() ?? this.#names.length
    // cut out of a page, the name would keep all of it
    const own = ownText(name)
    this.#rows.set(own, row)
    this.#names[row] = own
    return row
  }

  /** Returns its row, which is free now; `undefined` if there is no such stream. */
  remove(name: string): number | undefined {
    const row = this.#rows.get(name)
    if (row === undefined) return undefined
    this.#rows.delete(name)
    this.#names[row] = undefined
    this.#free.push(row)
    return row
  }
}

/** Few of very many rows with a number each, and what they add up to. */
export class Sums {
  readonly #numbers = new Map<number, number>()

  totalOf(isMeant: (row: number) => boolean): number {
    let total = 0
    for (const [row, number] of this.#numbers) if (isMeant(row)) total += number
    return total
  }

  /** Rows that have a number. */
  rows(): Iterable<number> {
    return this.#numbers.keys()
  }

  add(row: number, number: number): void {
    this.#numbers.set(row, (this.#numbers.get(row) ?? 0) + number)
  }

  clear(row: number): void {
    this.#numbers.delete(row)
  }
}

/**
 * What is kept of an ETag: 52 bits of hash, of two that differ the same once in 10^15. Two FNV-1a hashes of 26 bits; never
 * 0, which stands for none.
 */
export function markOf(etag: string): number {
  let a = 0x811c9dc5
  let b = 0x01000193
  for (let at = 0; at < etag.length; at++) {
    const unit = etag.charCodeAt(at)
    a = Math.imul(a ^ unit, 0x01000193)
    b = Math.imul(b ^ unit, 0x5bd1e995)
  }
  return (a >>> 6) * 0x4000000 + (b >>> 6) + 1
}

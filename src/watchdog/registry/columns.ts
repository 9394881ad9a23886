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

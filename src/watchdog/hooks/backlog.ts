import { ownText } from '../../ops/own-text.ts'
import type { Expiry } from '../decision.ts'
import { Room } from './room.ts'

/** A stream whose document has to be read, and why. */
export interface Reading {
  readonly stream: string
  /** What it did up to this version is known; `undefined`: nothing of it. */
  readonly before: number | undefined
  readonly notices: readonly Expiry[]
  /** To be called, once, when all that came of it is delivered or on its way. */
  readonly ended: readonly (() => void)[]
}

/** Streams at most that wait to be read, and those that are read at a time. */
const WAITING = 10_000
const AT_ONCE = 8

/** Streams to be read for hooks: a sweep goes on while they are. One that moves again meanwhile is read once. */
export class Backlog {
  readonly #waiting = new Map<string, Reading>()
  readonly #room: Room
  readonly #read: (reading: Reading) => Promise<void>
  #reading = 0
  #isClosed = false

  constructor(read: (reading: Reading) => Promise<void>, limit = WAITING) {
    this.#read = read
    this.#room = new Room(limit)
  }

  /** How many wait. */
  get size(): number {
    return this.#waiting.size
  }

  /** Waits until there is room. After `close` it does nothing. */
  async add(reading: Reading): Promise<void> {
    if (this.#merge(reading) || !(await this.#room.take())) return
    if (this.#merge(reading)) this.#room.leave()
    else this.#waiting.set(reading.stream, { ...reading, stream: ownText(reading.stream) })
    this.#next()
  }

  /** No further stream is read. */
  close(): void {
    this.#isClosed = true
    this.#room.close()
  }

  #merge(reading: Reading): boolean {
    const known = this.#waiting.get(reading.stream)
    if (known === undefined) return false
    this.#waiting.set(known.stream, {
      stream: known.stream,
      before: lower(known.before, reading.before),
      notices: [...known.notices, ...reading.notices],
      ended: [...known.ended, ...reading.ended],
    })
    return true
  }

  #next(): void {
    while (this.#reading < AT_ONCE && !this.#isClosed) {
      const [first] = this.#waiting.values()
      if (first === undefined) return
      this.#waiting.delete(first.stream)
      this.#room.leave()
      this.#reading += 1
      void this.#read(first).finally(() => {
        this.#reading -= 1
        this.#next()
      })
    }
  }
}

function lower(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : Math.min(a, b)
}

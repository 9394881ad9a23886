import type { Connection } from './connection.ts'
import { isBusy } from './errors.ts'

/** The thread is blocked for so long while it asks for the lock, ms; longer waits are asynchronous. */
const ASK_MS = 5
/** The mean pause between two questions, ms: a transaction of one change holds the lock for about so long. */
const EVERY_MS = 0.25
/** So long after others were met they are reckoned with, ms. */
const LATELY_MS = 500

/**
 * The lock under which one program at a time writes to a file. SQLite gives it to whoever asks first once it is free, so
 * those who want it ask often, at random intervals.
 */
export class WriteLock {
  readonly #connection: Connection
  readonly #random: () => number
  #metAtMs = Number.NEGATIVE_INFINITY

  constructor(connection: Connection, random: () => number) {
    this.#connection = connection
    this.#random = random
  }

  /** Others had it lately: what can be done before it is taken is better done before. */
  get isContended(): boolean {
    return performance.now() - this.#metAtMs < LATELY_MS
  }

  /** Begins a write transaction unless another program is in one: then `false`, at once. */
  takeIfFree(): boolean {
    try {
      this.#connection.begin()
      return true
    } catch (error) {
      this.#met(error)
      return false
    }
  }

  /** Begins a write transaction; throws what the last try threw when the lock was not to be had in a few ms. */
  take(): void {
    const endMs = performance.now() + ASK_MS
    for (;;) {
      try {
        this.#connection.begin()
        return
      } catch (error) {
        this.#met(error)
        if (performance.now() >= endMs) throw error
      }
      block(EVERY_MS * (0.5 + this.#random()))
    }
  }

  #met(error: unknown): void {
    if (!isBusy(error)) throw error
    this.#metAtMs = performance.now()
  }
}

const NEVER_CHANGED = new Int32Array(new SharedArrayBuffer(4))

function block(ms: number): void {
  Atomics.wait(NEVER_CHANGED, 0, 0, ms)
}

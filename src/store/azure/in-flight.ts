import { setImmediate as nextTurn } from 'node:timers/promises'
import { storeClosed } from './requests.ts'

/**
 * What is under way and may write, remove, or hold a lease: a store that is closed lets it come to its end. Ended at once
 * it would have been applied and nobody told, and leases would stay behind.
 */
export class InFlightOperations {
  readonly #running = new Set<Promise<unknown>>()
  #isEnding = false

  /** Begins a change and remembers it until it ends. Throws what it throws, and once all are to end that the store is closed. */
  run<Outcome>(change: () => Promise<Outcome>): Promise<Outcome> {
    return this.#isEnding ? Promise.reject(storeClosed()) : this.giveBack(change)
  }

  /** The same for what gives a lease back: it may begin as long as the others are waited for. */
  giveBack<Outcome>(release: () => Promise<Outcome>): Promise<Outcome> {
    const outcome = release()
    const over = () => this.#running.delete(ended)
    const ended: Promise<unknown> = outcome.then(over, over)
    this.#running.add(ended)
    return outcome
  }

  /** Begins no more of them, and waits for those that are under way. */
  async end(): Promise<void> {
    this.#isEnding = true
    while (this.#running.size > 0) {
      await Promise.all(this.#running)
      // Whoever acquired a lease hears of it, and may give it back.
      await nextTurn()
    }
  }
}

/** How long a store waits for what is its own, ms. */
export interface DrainTimeouts {
  /** A change for the release of the one before. */
  readonly releaseMs: number
  /** `close` for what is still under way. */
  readonly closeMs: number
}

export const DRAIN_TIMEOUTS: DrainTimeouts = { releaseMs: 1_000, closeMs: 2_000 }

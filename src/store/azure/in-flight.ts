import { setImmediate as nextTurn } from 'node:timers/promises'
import { storeClosed } from './requests.ts'

/**
 * Operations under way that may write, remove, or hold a lease. A store that is closed lets them come to their end: if it
 * aborted them they might be applied with nobody knowing, and leases would stay behind.
 */
export class InFlightOperations {
  readonly #running = new Set<Promise<unknown>>()
  #isDraining = false

  /** Runs an operation. Throws what it throws; once the store is draining, `StoreClosed`. */
  run<Outcome>(operation: () => Promise<Outcome>): Promise<Outcome> {
    return this.#isDraining ? Promise.reject(storeClosed()) : this.runRelease(operation)
  }

  /** Runs a release, which may begin even while the store is draining. */
  runRelease<Outcome>(release: () => Promise<Outcome>): Promise<Outcome> {
    const outcome = release()
    const over = () => this.#running.delete(ended)
    const ended: Promise<unknown> = outcome.then(over, over)
    this.#running.add(ended)
    return outcome
  }

  /** Lets no further operation begin, and waits for those under way. */
  async drain(): Promise<void> {
    this.#isDraining = true
    while (this.#running.size > 0) {
      await Promise.all(this.#running)
      // A caller that has just acquired a lease gets the chance to release it.
      await nextTurn()
    }
  }
}

/** How long a store waits for its own requests, ms. */
export interface DrainTimeouts {
  /** A change waits for the release of the change before it. */
  readonly releaseMs: number
  /** `close` waits for everything under way. */
  readonly closeMs: number
}

export const DRAIN_TIMEOUTS: DrainTimeouts = { releaseMs: 1_000, closeMs: 2_000 }

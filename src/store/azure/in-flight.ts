import { setImmediate as nextTurn } from 'node:timers/promises'
import { storeClosed } from './requests.ts'

/**
 * Operations in flight that may write, remove, or hold a lease. A store waits for them when it is closed: aborted operations
 * might be applied without a result, and leases would be left behind.
 */
export class InFlightOperations {
  readonly #running = new Set<Promise<unknown>>()
  #isDraining = false

  /** Runs an operation. Rejects with its error, or with `StoreClosed` if the store is draining. */
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

  /** Rejects new operations, and waits for those in flight. */
  async drain(): Promise<void> {
    this.#isDraining = true
    while (this.#running.size > 0) {
      await Promise.all(this.#running)
      // A caller that has just acquired a lease gets a chance to release it.
      await nextTurn()
    }
  }
}

/** Limits for waiting for the store's own requests, ms. */
export interface DrainTimeouts {
  /** A change waits for the release of the change before it. */
  readonly releaseMs: number
  /** `close` waits for all operations in flight. */
  readonly closeMs: number
}

export const DRAIN_TIMEOUTS: DrainTimeouts = { releaseMs: 1_000, closeMs: 2_000 }

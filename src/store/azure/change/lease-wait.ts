import { leaseRetryDelay } from '../../backoff.ts'
import type { ChangeOptions } from '../../store.ts'
import type { AzureRequests } from '../requests.ts'

/** The waiting of one change for leases that other writers hold: at most `waitMs` in all, until `stopWaiting`. */
export class LeaseWait {
  readonly #calls: AzureRequests
  readonly #options: ChangeOptions
  /** How long the change had waited when the present back-off began. */
  #sinceMs = 0
  #waitedMs = 0
  /** Whether a try found the lease held, so that the following ones are part of the waiting. */
  #isWaiting = false

  constructor(calls: AzureRequests, options: ChangeOptions) {
    this.#calls = calls
    this.#options = options
  }

  /** Time spent waiting so far, whole ms. */
  get waitedMs(): number {
    return Math.round(this.#waitedMs)
  }

  /** The next lease to wait for is another one: its back-off begins anew. */
  restart(): void {
    this.#sinceMs = this.#waitedMs
    this.#isWaiting = false
  }

  /**
   * A try found the lease held. All tries but the first are part of the waiting; that one is made in any case.
   *
   * @param tookMs how long the try took
   * @param limitMs how long one request may take. A try that took longer had unanswered requests, and an outage does not
   * count as waiting for the lease
   */
  recordTry(tookMs: number, limitMs: number): void {
    if (this.#isWaiting && tookMs < limitMs) this.#waitedMs += tookMs
  }

  /** Waits for the next try, with back-off; `false`, without waiting, once the time to wait is over. */
  async nextTry(): Promise<boolean> {
    if (this.#leftMs === 0) return false
    this.#isWaiting = true
    await this.pause(leaseRetryDelay(this.#waitedMs - this.#sinceMs, this.#calls.random))
    return true
  }

  /** Waits, at most until the time to wait is over. */
  async pause(ms: number): Promise<void> {
    const { machine } = this.#calls
    const shortMs = Math.min(ms, this.#leftMs)
    if (shortMs <= 0) return
    const fromMs = machine.monotonicMs()
    await this.#calls.pause(shortMs, this.#options.signal)
    // At least what was asked for: a clock that stands still must not make the wait endless.
    this.#waitedMs += Math.max(shortMs, machine.monotonicMs() - fromMs)
  }

  get #leftMs(): number {
    return this.#options.stopWaiting?.aborted ? 0 : Math.max(this.#options.waitMs - this.#waitedMs, 0)
  }
}

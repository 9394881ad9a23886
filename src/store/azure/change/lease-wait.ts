import { leaseRetryDelay } from '../../backoff.ts'
import type { ChangeOptions } from '../../store.ts'
import type { AzureRequests } from '../requests.ts'

/** The wait of one change for leases held by other writers: at most `waitMs` in total, until `stopWaiting`. */
export class LeaseWait {
  readonly #calls: AzureRequests
  readonly #options: ChangeOptions
  /** Total wait at the begin of the current back-off, ms. */
  #sinceMs = 0
  #waitedMs = 0
  /** Whether an attempt found the lease held, so that the following ones are part of the wait. */
  #isWaiting = false

  constructor(calls: AzureRequests, options: ChangeOptions) {
    this.#calls = calls
    this.#options = options
  }

  /** Time spent waiting so far, whole ms. */
  get waitedMs(): number {
    return Math.round(this.#waitedMs)
  }

  /** The next lease to wait for is another one: the back-off starts again. */
  restart(): void {
    this.#sinceMs = this.#waitedMs
    this.#isWaiting = false
  }

  /**
   * Records an attempt that found the lease held. All attempts but the first, which is made in any case, are part of the wait.
   *
   * @param tookMs duration of the attempt
   * @param limitMs timeout of one request. A longer attempt had unanswered requests, and an outage does not count as a wait for
   * the lease
   */
  recordTry(tookMs: number, limitMs: number): void {
    if (this.#isWaiting && tookMs < limitMs) this.#waitedMs += tookMs
  }

  /** Waits for the next attempt, with back-off; `false` at once if the wait is over. */
  async nextTry(): Promise<boolean> {
    if (this.#leftMs === 0) return false
    this.#isWaiting = true
    await this.pause(leaseRetryDelay(this.#waitedMs - this.#sinceMs, this.#calls.random))
    return true
  }

  /** Pauses, at most until the wait is over. */
  async pause(ms: number): Promise<void> {
    const { machine } = this.#calls
    const shortMs = Math.min(ms, this.#leftMs)
    if (shortMs <= 0) return
    const fromMs = machine.monotonicMs()
    await this.#calls.pause(shortMs, this.#options.signal)
    // At least the requested time: a clock that stands still must not make the wait endless.
    this.#waitedMs += Math.max(shortMs, machine.monotonicMs() - fromMs)
  }

  get #leftMs(): number {
    return this.#options.stopWaiting?.aborted ? 0 : Math.max(this.#options.waitMs - this.#waitedMs, 0)
  }
}

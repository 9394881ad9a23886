import { leaseDelay } from '../../backoff.ts'
import type { AzureCalls } from '../requests.ts'

export interface LeaseWaitOptions {
  /** How long to wait for leases held by others, ms, over the whole change. */
  readonly waitMs: number
  /** Once aborted it waits no longer. */
  readonly stopWaiting?: AbortSignal | undefined
  readonly signal?: AbortSignal | undefined
}

/** The waiting of one change for leases held by others. */
export class LeaseWait {
  readonly #calls: AzureCalls
  readonly #options: LeaseWaitOptions
  #sinceMs = 0
  #waitedMs = 0
  /** Whether a try found the lease held, so that those after it are made for the waiting's sake. */
  #hasBegun = false

  constructor(calls: AzureCalls, options: LeaseWaitOptions) {
    this.#calls = calls
    this.#options = options
  }

  /** Time spent waiting so far, whole ms. */
  get waitedMs(): number {
    return Math.round(this.#waitedMs)
  }

  /** How much of the patience is left, ms; 0 as soon as the caller wants to wait no longer. */
  get leftMs(): number {
    return this.#options.stopWaiting?.aborted ? 0 : Math.max(this.#options.waitMs - this.#waitedMs, 0)
  }

  /** The lease was free: the next back-off begins anew. */
  entered(): void {
    this.#sinceMs = this.#waitedMs
    this.#hasBegun = false
  }

  /**
   * A try found the lease held, and took so long. All but the first are part of the waiting: that one is made in any case.
   *
   * @param limitMs how long one request may take: what took that long is more than one, some of them without an answer,
   * and an outage is no waiting for the lease
   */
  tried(tookMs: number, limitMs: number): void {
    if (this.#hasBegun && tookMs < limitMs) this.#waitedMs += tookMs
  }

  /** Waits for the next try, with back-off; `false`, without waiting, where the patience is at its end. */
  async next(): Promise<boolean> {
    if (this.leftMs === 0) return false
    this.#hasBegun = true
    await this.pause(leaseDelay(this.#waitedMs - this.#sinceMs, this.#calls.random))
    return true
  }

  /** Waits so long, at most as long as there is patience. */
  async pause(ms: number): Promise<void> {
    const { machine } = this.#calls
    const shortMs = Math.min(ms, this.leftMs)
    if (shortMs <= 0) return
    const fromMs = machine.monotonicMs()
    await this.#calls.pause(shortMs, this.#options.signal)
    // At least what was asked for: a clock that stands still must not make the wait endless.
    this.#waitedMs += Math.max(shortMs, machine.monotonicMs() - fromMs)
  }
}

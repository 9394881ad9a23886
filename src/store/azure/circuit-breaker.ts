import { sleepUntilAborted } from '../../util/concurrency.ts'
import { cappedRetryAfter } from '../backoff.ts'
import type { ServiceError } from './errors.ts'

/** Number of consecutive unanswered attempts, of any requests, after which the circuit opens. */
const OPEN_AFTER = 6
/** Interval of probes while it is open, ms: between this and twice this. */
const PROBE_MS = 1_000

/**
 * Circuit breaker for the requests of one store. While the service does not answer, the requests take turns as probes, at most
 * one per second for all of them. The first answer closes the circuit.
 */
export class CircuitBreaker {
  readonly #random: () => number
  #unanswered = 0
  #last: ServiceError | undefined
  /** Time of the next probe, ms of `performance.now()`. */
  #nextMs = 0
  /** Aborts at the end of the outage, which ends the waits for a probe slot. */
  #over = new AbortController()

  constructor(random: () => number) {
    this.#random = random
  }

  get isOpen(): boolean {
    return this.#unanswered >= OPEN_AFTER
  }

  answered(): void {
    if (this.isOpen) this.#over.abort()
    this.#unanswered = 0
    // A Retry-After from this outage must not delay the next one.
    this.#nextMs = 0
  }

  unanswered(error: ServiceError): void {
    this.#unanswered += 1
    this.#last = error
    const nowMs = performance.now()
    if (this.#unanswered === OPEN_AFTER) {
      this.#over = new AbortController()
      this.#takeSlot(nowMs)
    }
    this.#nextMs = Math.max(this.#nextMs, nowMs + cappedRetryAfter(error.retryAfterMs))
  }

  /**
   * Waits for a probe slot; while the circuit is closed it resolves at once.
   *
   * @returns `undefined` if the request may be sent; the last error if there was no slot within `limitMs`
   */
  async acquireProbeSlot(
    limitMs: number,
    ...signals: readonly (AbortSignal | undefined)[]
  ): Promise<ServiceError | undefined> {
    const untilMs = performance.now() + limitMs
    while (this.isOpen && !signals.some(signal => signal?.aborted)) {
      const nowMs = performance.now()
      // A request at its limit must not use up a slot.
      if (nowMs >= untilMs) return this.#last
      if (nowMs >= this.#nextMs) {
        this.#takeSlot(nowMs)
        return undefined
      }
      await sleepUntilAborted(Math.ceil(Math.min(this.#nextMs, untilMs) - nowMs), this.#over.signal, ...signals)
    }
    return undefined
  }

  #takeSlot(nowMs: number): void {
    this.#nextMs = Math.max(this.#nextMs, nowMs + PROBE_MS * (1 + this.#random()))
  }
}

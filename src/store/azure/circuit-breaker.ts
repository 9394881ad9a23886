import { sleepUntilAborted } from '../../util/concurrency.ts'
import { cappedRetryAfter } from '../backoff.ts'
import type { ServiceError } from './errors.ts'

/** After so many tries in a row without an answer, of whatever requests, the service is taken to be out of reach. */
const KNOWN_AFTER = 6
/** From then on one try goes out so often, ms: between this and twice this. */
const APART_MS = 1_000

/**
 * Whether the service answers at all, as far as the requests of one store can tell. While it does not, they take turns, so that
 * all of them together ask at most once a second, however many there are; the first answer lets all through.
 */
export class CircuitBreaker {
  readonly #random: () => number
  #silences = 0
  #last: ServiceError | undefined
  /** When the next try may go out, ms of `performance.now()`. */
  #nextMs = 0
  /** Aborts when the outage is over: ends the waits for a turn. */
  #over = new AbortController()

  constructor(random: () => number) {
    this.#random = random
  }

  get isOn(): boolean {
    return this.#silences >= KNOWN_AFTER
  }

  answered(): void {
    if (this.isOn) this.#over.abort()
    this.#silences = 0
    // What was asked for before it was back says nothing of the next outage.
    this.#nextMs = 0
  }

  silent(error: ServiceError): void {
    this.#silences += 1
    this.#last = error
    const nowMs = performance.now()
    if (this.#silences === KNOWN_AFTER) {
      this.#over = new AbortController()
      this.#taken(nowMs)
    }
    this.#nextMs = Math.max(this.#nextMs, nowMs + cappedRetryAfter(error.retryAfterMs))
  }

  /**
   * Waits for a turn; without an outage it is there at once.
   *
   * @returns why there was none within `limitMs`, `undefined` if the request may be sent
   */
  async turn(limitMs: number, ...signals: readonly (AbortSignal | undefined)[]): Promise<ServiceError | undefined> {
    const untilMs = performance.now() + limitMs
    while (this.isOn && !signals.some(signal => signal?.aborted)) {
      const nowMs = performance.now()
      // Whose time is over could make nothing of a turn.
      if (nowMs >= untilMs) return this.#last
      if (nowMs >= this.#nextMs) {
        this.#taken(nowMs)
        return undefined
      }
      await sleepUntilAborted(Math.ceil(Math.min(this.#nextMs, untilMs) - nowMs), this.#over.signal, ...signals)
    }
    return undefined
  }

  #taken(nowMs: number): void {
    this.#nextMs = Math.max(this.#nextMs, nowMs + APART_MS * (1 + this.#random()))
  }
}

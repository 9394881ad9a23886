import { type Clock, type Instant, instantOf } from '../../util/clock.ts'

/** Age of an answer up to which the local clock is trusted to have advanced correctly from it, ms. */
const FRESH_MS = 1_000
/** Drift between wall clock and monotonic clock beyond which the wall clock counts as set, ms. */
const SET_MS = 500

/**
 * The time of the service, from the `Date` header of its answers. The header is truncated to the second, so an answer gives
 * bounds, not a value: at some moment between sending and receiving, the service's clock was within that second.
 * The local clock is used unchanged unless an answer contradicts it; then it is adjusted by the smallest offset that fits.
 */
export class ServiceClock {
  readonly #machine: Clock
  #offsetMs = 0
  /** Wall clock and monotonic clock at the last answer. */
  #answeredAt: Instant | undefined

  constructor(machine: Clock) {
    this.#machine = machine
  }

  /** Whether any answer contained the service's time; until then the local clock is not verified. */
  get isKnown(): boolean {
    return this.#answeredAt !== undefined
  }

  /**
   * Whether the last answer is so recent that the local clock cannot be far off: it was not set, the machine did not sleep, and
   * drift in that time is small.
   */
  get isFresh(): boolean {
    if (this.#answeredAt === undefined) return false
    const passedMs = this.#machine.monotonicMs() - this.#answeredAt.monotonicMs
    const wallPassedMs = this.#machine.wallMs() - this.#answeredAt.wallMs
    return passedMs < FRESH_MS && Math.abs(wallPassedMs - passedMs) < SET_MS
  }

  /** Epoch ms by the service's clock. */
  nowMs(): number {
    return Math.round(this.#machine.wallMs() + this.#offsetMs)
  }

  /** Records an answer. All arguments are epoch ms: the first by the service's clock, the others by the local clock. */
  observe(dateMs: number, sentMs: number, receivedMs: number): void {
    if (!Number.isFinite(dateMs) || receivedMs < sentMs) return
    this.#answeredAt = instantOf(this.#machine)
    const least = dateMs - receivedMs
    const most = dateMs + 999 - sentMs
    this.#offsetMs = Math.min(Math.max(this.#offsetMs, least), most)
  }
}

import { type Clock, type Instant, instantOf } from '../../util/clock.ts'

/** So long after an answer, ms, the local clock is believed to have gone on from it. */
const FRESH_MS = 1_000
/** The wall clock may drift so far from the monotonic one meanwhile before somebody is taken to have set it, ms. */
const SET_MS = 500

/**
 * The service's time, from the `Date` header of its answers. That header is cut to the second, so each answer gives
 * bounds, not a value: at some moment between sending and receiving the service's clock stood within that second.
 * The local clock is believed as long as no answer contradicts it, and otherwise moved by the least that fits.
 */
export class ServiceClock {
  readonly #machine: Clock
  #offsetMs = 0
  /** Wall clock and monotonic clock when the last answer came. */
  #heard: Instant | undefined

  constructor(machine: Clock) {
    this.#machine = machine
  }

  /** Whether any answer told the service's time: until then the local clock is believed blindly. */
  get isKnown(): boolean {
    return this.#heard !== undefined
  }

  /**
   * Whether the last answer was so short a time ago that the local clock cannot have gone far wrong since: nobody has set
   * it, the machine did not sleep, and no clock gains or loses much in that time.
   */
  get isFresh(): boolean {
    if (this.#heard === undefined) return false
    const passedMs = this.#machine.monotonicMs() - this.#heard.monotonicMs
    const wallPassedMs = this.#machine.wallMs() - this.#heard.wallMs
    return passedMs < FRESH_MS && Math.abs(wallPassedMs - passedMs) < SET_MS
  }

  /** Epoch ms by the service's clock. */
  nowMs(): number {
    return Math.round(this.#machine.wallMs() + this.#offsetMs)
  }

  /** Takes notice of an answer. All in epoch ms; the first by the service's clock, the others by the local one. */
  observe(dateMs: number, sentMs: number, receivedMs: number): void {
    if (!Number.isFinite(dateMs) || receivedMs < sentMs) return
    this.#heard = instantOf(this.#machine)
    const least = dateMs - receivedMs
    const most = dateMs + 999 - sentMs
    this.#offsetMs = Math.min(Math.max(this.#offsetMs, least), most)
  }
}

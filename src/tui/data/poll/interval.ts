/** Looks at a slow store take at most half of the time. */
const SHARE = 2
/** Looks of up to two seconds apart take at most a twenty-fifth: those at an embedded store cost processor time. */
const QUICK_SHARE = 25
const QUICK_MS = 2_000
const LONGEST_MS = 60_000
/** Longest pause after a store error, ms. */
const LONGEST_BACK_OFF_MS = 10_000

/** The time from the start of one poll to the start of the next. */
export class PollInterval {
  readonly #intervalMs: number
  #failures = 0
  #tookMs = 0

  /** @param askedMs the least interval, ms */
  constructor(askedMs: number) {
    this.#intervalMs = askedMs
  }

  /**
   * After a successful poll. The shorter of the last two counts: one slow answer, as after a hang, does not tell that the
   * store is slow.
   * @param tookMs its duration
   */
  answered(tookMs: number): number {
    this.#failures = 0
    const usualMs = Math.min(tookMs, this.#tookMs)
    this.#tookMs = tookMs
    const quickMs = Math.min(QUICK_MS, Math.ceil(QUICK_SHARE * usualMs))
    return Math.max(this.#intervalMs, quickMs, Math.min(LONGEST_MS, Math.ceil(SHARE * usualMs)))
  }

  /** Whether this interval tells that the store is slow, and not only that looks are spared. */
  isSlow(intervalMs: number): boolean {
    return intervalMs > Math.max(this.#intervalMs, QUICK_MS)
  }

  /** After a failed poll: doubles each time. */
  failed(): number {
    const waitMs = this.#intervalMs * 2 ** Math.min(this.#failures, 20)
    this.#failures++
    return Math.max(this.#intervalMs, Math.min(LONGEST_BACK_OFF_MS, waitMs))
  }
}

/** A look is followed by the next one after so many times as long as it took: the store is left to others. */
const SHARE = 4
const LONGEST_MS = 60_000
/** A store that does not answer is asked again at the latest after so many ms. */
const LONGEST_BACK_OFF_MS = 10_000

/** How long it is from the start of one look to the start of the next. */
export class Pace {
  readonly #askedMs: number
  #failures = 0

  /** @param askedMs at least so long, ms */
  constructor(askedMs: number) {
    this.#askedMs = askedMs
  }

  /** After a look that took so long. */
  answered(tookMs: number): number {
    this.#failures = 0
    return Math.max(this.#askedMs, Math.min(LONGEST_MS, Math.ceil(SHARE * tookMs)))
  }

  /** After one that failed: twice as long each time. */
  failed(): number {
    const waitMs = this.#askedMs * 2 ** Math.min(this.#failures, 20)
    this.#failures++
    return Math.max(this.#askedMs, Math.min(LONGEST_BACK_OFF_MS, waitMs))
  }
}

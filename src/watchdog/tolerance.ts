import type { StoreUnreachable } from '../store/errors.ts'

/** So many streams of a pass may fail to answer before the rest is left for the next one. */
const MAX_UNANSWERED = 3

/** One stream without an answer does not keep a pass from the others; a store that does not answer ends it. */
export class Tolerance {
  #unanswered = 0

  /** @throws the error when there were too many */
  count(error: StoreUnreachable): void {
    this.#unanswered += 1
    if (this.#unanswered > MAX_UNANSWERED) throw error
  }
}

import type { Problem } from '../../cli/problem.ts'

/** They say nothing of the one stream: the next one would meet them too. */
const STORE_FAULTS: ReadonlySet<string> = new Set([
  'store-unreachable',
  'store-full',
  'store-damaged',
  'store-incompatible',
  'not-permitted',
  'container-missing',
])

/** Counts streams in a row that failed by a fault of the store or disk as a whole: after too many of them a batch stops. */
export class FaultStreak {
  readonly #most: number
  #length = 0

  constructor(most = 8) {
    this.#most = most
  }

  /** Takes the next outcome into account. */
  isTooLong(problem: Problem | undefined): boolean {
    this.#length = problem !== undefined && STORE_FAULTS.has(problem.code) ? this.#length + 1 : 0
    return this.#length >= this.#most
  }
}

import type { Problem } from '../../cli/problem.ts'

/** Faults that are not about a single stream: the next one would have them too. */
const STORE_FAULTS: ReadonlySet<string> = new Set([
  'store-unreachable',
  'store-full',
  'store-damaged',
  'store-incompatible',
  'not-permitted',
  'container-missing',
])

/** Counts consecutive faults of the store or disk as a whole. After too many of them a batch stops. */
export class FaultStreak {
  readonly #most: number
  #length = 0

  constructor(most = 8) {
    this.#most = most
  }

  /** Counts the next outcome. */
  isTooLong(problem: Problem | undefined): boolean {
    this.#length = problem !== undefined && STORE_FAULTS.has(problem.code) ? this.#length + 1 : 0
    return this.#length >= this.#most
  }
}

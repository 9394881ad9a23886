/** Maximum relative error of `quantile`. */
export const RELATIVE_ERROR = 0.01

/** Ratio of the upper bounds of two neighbouring buckets. */
const GROWTH = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR)
const LOG_GROWTH = Math.log(GROWTH)

/** Number of buckets; the last one has all durations from some 2 500 years on. */
const BUCKETS = 1_600

/**
 * A histogram of durations with buckets that grow with the duration: any number of samples in 6 KB, every quantile to 1
 * %. Count, sum, minimum and maximum are exact. The same idea as DDSketch (https://arxiv.org/abs/1908.10693).
 */
export class LogHistogram {
  /** Allocated on the first sample: many steps never run. */
  #counts: Uint32Array | undefined
  #count = 0
  #sumMs = 0
  #minMs = Number.POSITIVE_INFINITY
  #maxMs = 0

  get count(): number {
    return this.#count
  }

  /** `undefined` without a sample, like the following ones. */
  get minMs(): number | undefined {
    return this.#count === 0 ? undefined : this.#minMs
  }

  get maxMs(): number | undefined {
    return this.#count === 0 ? undefined : this.#maxMs
  }

  get meanMs(): number | undefined {
    return this.#count === 0 ? undefined : this.#sumMs / this.#count
  }

  /** @param ms 0 or more */
  add(ms: number): void {
    this.#counts ??= new Uint32Array(BUCKETS)
    const at = bucketOf(ms)
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.#count++
    this.#sumMs += ms
    this.#minMs = Math.min(this.#minMs, ms)
    this.#maxMs = Math.max(this.#maxMs, ms)
  }

  /** The shortest duration that at least the share `q` (0 to 1) of all samples does not exceed, to 1 %. */
  quantile(q: number): number | undefined {
    const rank = Math.max(1, Math.ceil(q * this.#count))
    if (rank >= this.#count) return this.maxMs
    let below = 0
    for (const { ms, count } of this.buckets()) {
      below += count
      if (below >= rank) return ms
    }
    return undefined
  }

  /** The non-empty buckets, shortest first, each with a duration that represents its samples to 1 %. */
  *buckets(): Generator<{ readonly ms: number; readonly count: number }> {
    for (const [at, count] of (this.#counts ?? []).entries()) {
      if (count > 0) yield { ms: Math.min(this.#maxMs, Math.max(this.#minMs, lengthOf(at))), count }
    }
  }
}

/** The first bucket has durations below 1 ms, the second exactly 1 ms. */
function bucketOf(ms: number): number {
  return ms < 1 ? 0 : Math.min(BUCKETS - 1, Math.ceil(Math.log(ms) / LOG_GROWTH) + 1)
}

/** The value in a bucket with the same relative distance to both bounds. */
function lengthOf(bucket: number): number {
  return bucket === 0 ? 0 : (2 * GROWTH ** (bucket - 1)) / (GROWTH + 1)
}

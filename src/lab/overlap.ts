/** A time in which a process surely held the lease. */
export interface Holding {
  readonly process: string
  readonly fromMs: number
  readonly toMs: number
}

/** Two processes that held the lease at one time. */
export interface Overlap {
  readonly first: string
  readonly second: string
  /** For how long, ms. */
  readonly ms: number
}

/**
 * Times in which two held the lease: there must be none. Each holding begins when the acquire was answered and ends before
 * the release is sent, by one clock, so that two that overlap prove that the store gave the lease twice.
 */
export function overlapsIn(holdings: readonly Holding[]): Overlap[] {
  const found: Overlap[] = []
  let last: Holding | undefined
  for (const next of holdings.toSorted((a, b) => a.fromMs - b.fromMs)) {
    if (last !== undefined && next.fromMs < last.toMs) {
      const ms = Math.min(last.toMs, next.toMs) - next.fromMs
      found.push({ first: last.process, second: next.process, ms })
    }
    if (last === undefined || next.toMs > last.toMs) last = next
  }
  return found
}

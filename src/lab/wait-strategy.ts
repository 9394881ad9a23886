import { leaseRetryDelay } from '../store/backoff.ts'
import type { PaceName } from './strategies.ts'

/** How a process waits for a lease that it did not get. */
export interface WaitStrategy {
  /** Delay before the next attempt, ms. @param waitedMs how long it has waited already */
  retryMs(waitedMs: number): number
  /** Delay between two turns of the same process, ms, so that it does not take the lease again at once. */
  restMs(): number
}

const SHORTEST_POLL_MS = 750
const LONGEST_POLL_MS = 2_500
/** The loop of the original test rests as long between two scopes. */
const LONGEST_REST_MS = 2_000

/** @param random numbers in [0, 1), as from `Math.random` */
export function waitStrategyOf(name: PaceName, random: () => number): WaitStrategy {
  if (name === 'usual')
    return { retryMs: waitedMs => leaseRetryDelay(waitedMs, random), restMs: () => leaseRetryDelay(0, random) }
  const upTo = (longestMs: number) => () => SHORTEST_POLL_MS + random() * (longestMs - SHORTEST_POLL_MS)
  return { retryMs: upTo(LONGEST_POLL_MS), restMs: upTo(LONGEST_REST_MS) }
}

import { leaseRetryDelay } from '../store/backoff.ts'
import type { PaceName } from './strategies.ts'

/** How somebody waits who does not get the lease. */
export interface WaitStrategy {
  /** Until the next try, ms, by how long it has waited already. */
  retryMs(waitedMs: number): number
  /** After a turn, before the next one, ms: so that who had the lease does not have it again at once. */
  restMs(): number
}

const SHORTEST_POLL_MS = 750
const LONGEST_POLL_MS = 2_500

/** @param random numbers in [0, 1), as `Math.random` gives them */
export function paceOf(name: PaceName, random: () => number): WaitStrategy {
  if (name === 'usual')
    return { retryMs: waitedMs => leaseRetryDelay(waitedMs, random), restMs: () => leaseRetryDelay(0, random) }
  return { retryMs: () => SHORTEST_POLL_MS + random() * (LONGEST_POLL_MS - SHORTEST_POLL_MS), restMs: () => 0 }
}

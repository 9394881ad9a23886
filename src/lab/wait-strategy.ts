import { leaseDelay } from '../store/backoff.ts'
import type { PaceName } from './strategies.ts'

/** How somebody waits who does not get the lease. */
export interface Pace {
  /** Until the next try, ms, by how long it has waited already. */
  retryMs(waitedMs: number): number
  /** After a turn, before the next one, ms: so that who had the lease does not have it again at once. */
  restMs(): number
}

const SHORTEST_POLL_MS = 750
const LONGEST_POLL_MS = 2_500

/** @param random numbers in [0, 1), as `Math.random` gives them */
export function paceOf(name: PaceName, random: () => number): Pace {
  if (name === 'usual')
    return { retryMs: waitedMs => leaseDelay(waitedMs, random), restMs: () => leaseDelay(0, random) }
  return { retryMs: () => SHORTEST_POLL_MS + random() * (LONGEST_POLL_MS - SHORTEST_POLL_MS), restMs: () => 0 }
}

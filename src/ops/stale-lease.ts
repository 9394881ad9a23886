import type { LeaseView } from '../store/store.ts'

/**
 * Why a lease may be abandoned. `held-long`: held for longer than the limit. `holder-unknown`: infinite, and its holder
 * is unknown. `process-gone`: its holder was a process of this host that no longer runs.
 */
export type StaleReason = 'held-long' | 'holder-unknown' | 'process-gone'

export interface StaleRule {
  readonly nowMs: number
  /** A lease held for longer than this is stale, ms. */
  readonly longerThanMs: number
  /** This host, as holders name it. */
  readonly host: string
  /** Whether a process of this host has this id. */
  isRunning(pid: number): boolean
}

/** The longest finite lease: unrenewed leases have ended by then, so a missing holder does not matter before. */
const LONGEST_LEASE_MS = 60_000

/** Why the lease looks stale; empty for other leases. A lease that is breaking ends by itself. */
export function staleReasons({ state, duration, holder }: LeaseView, rule: StaleRule): readonly StaleReason[] {
  if (state !== 'leased') return []
  if (holder === undefined) return duration === 'infinite' ? ['holder-unknown'] : []
  const heldMs = rule.nowMs - holder.sinceMs
  const isGone = holder.host === rule.host && holder.pid > 0 && heldMs > LONGEST_LEASE_MS && !rule.isRunning(holder.pid)
  return [...(heldMs > rule.longerThanMs ? ['held-long' as const] : []), ...(isGone ? ['process-gone' as const] : [])]
}

import { formatDuration } from '../../stream/time/durations.ts'
import { type Findings, MAX_EXAMPLES } from './scan.ts'
import { type AgeLimits, ageStatus, type CheckStatus, worst } from './status.ts'

/** A subscription of the store. */
export interface SubscriptionSeen {
  readonly name: string
  /** Age of the oldest transaction that is not handled; of shards that nobody runs, the time since somebody looked, ms. */
  readonly lagMs: number
  readonly waiting: number
  readonly parked: number
  /** Shards that a process runs, of all. */
  readonly held: number
  readonly shards: number
  /** Why its documents cannot be read. */
  readonly error?: string
}

/** A subscription that needs someone. */
export interface TroubledSubscription {
  readonly name: string
  /** Parked streams, lag, nobody runs it: a clause. */
  readonly why: string
  readonly lagMs: number
}

/** Subscriptions with parked streams, with lag, or that cannot be read; the longest lag first. */
export function troubledSubscriptions(
  seen: readonly SubscriptionSeen[],
  lag: AgeLimits,
): { readonly status: CheckStatus; readonly found: Findings<TroubledSubscription> } {
  const troubled = seen
    .map(one => ({ name: one.name, lagMs: one.lagMs, ...troubleOf(one, lag) }))
    .filter(({ status }) => status !== 'ok')
    .sort((a, b) => b.lagMs - a.lagMs)
  const examples = troubled.slice(0, MAX_EXAMPLES).map(({ name, why, lagMs }) => ({ name, why, lagMs }))
  return { status: worst(troubled.map(({ status }) => status)), found: { count: troubled.length, examples } }
}

function troubleOf({ error, parked, lagMs, held, shards }: SubscriptionSeen, lag: AgeLimits) {
  if (error !== undefined) return { status: 'warning' as const, why: error }
  const status = ageStatus(lagMs, lag)
  const isBehind = status !== 'ok'
  const why = [
    ...(parked > 0 ? [`${parked} parked`] : []),
    ...(isBehind ? [`${formatDuration(Math.round(lagMs / 1_000) * 1_000)} behind`] : []),
    ...(isBehind && held === 0 ? ['nobody runs it'] : []),
    ...(isBehind && held > 0 && held < shards ? [`nobody runs ${shards - held} of ${shards} shards`] : []),
  ].join(', ')
  return { status: worst([status, parked > 0 ? 'warning' : 'ok']), why }
}

import { formatDuration } from '../../stream/time/durations.ts'
import { type Findings, MAX_EXAMPLES } from './scan.ts'

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

/** From this lag on a subscription is behind: many times the pause of a handler that is put off, ms. */
const LAGS_FROM_MS = 5 * 60_000

/** Subscriptions with parked streams, with lag, or that cannot be read; the longest lag first. */
export function troubledSubscriptions(seen: readonly SubscriptionSeen[]): Findings<TroubledSubscription> {
  const troubled = seen
    .flatMap(one => {
      const why = troubleOf(one)
      return why === '' ? [] : [{ name: one.name, why, lagMs: one.lagMs }]
    })
    .sort((a, b) => b.lagMs - a.lagMs)
  return { count: troubled.length, examples: troubled.slice(0, MAX_EXAMPLES) }
}

function troubleOf({ error, parked, lagMs, held, shards }: SubscriptionSeen): string {
  if (error !== undefined) return error
  const isBehind = lagMs >= LAGS_FROM_MS
  return [
    ...(parked > 0 ? [`${parked} parked`] : []),
    ...(isBehind ? [`${formatDuration(Math.round(lagMs / 1_000) * 1_000)} behind`] : []),
    ...(isBehind && held === 0 ? ['nobody runs it'] : []),
    ...(isBehind && held > 0 && held < shards ? [`nobody runs ${shards - held} of ${shards} shards`] : []),
  ].join(', ')
}

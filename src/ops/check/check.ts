import type { WatchdogState } from '../watchdog-state/state.ts'
import { type InboxLimits, type InboxSeen, type TroubledInbox, troubledInboxes } from './inboxes.ts'
import type {
  AbandonedStream,
  FailedStream,
  Findings,
  LimitedStream,
  StoreScan,
  StuckLease,
  UnreadableStream,
  WaitingStream,
} from './scan.ts'
import { type AgeLimits, ageStatus, type CheckStatus, type CountLimits, countStatus, worst } from './status.ts'
import { type SubscriptionSeen, type TroubledSubscription, troubledSubscriptions } from './subscriptions.ts'
import { judgeWatchdogs, type LagRule, sweepingOf, type WatchdogSeen, type WatchdogVerdict } from './watchdogs.ts'

export interface CheckLimits {
  readonly overdue: CountLimits
  readonly failed: CountLimits
  readonly abandoned: CountLimits
  readonly waiting: AgeLimits
  readonly stuck: CountLimits
  readonly unreadable: CountLimits
  readonly lag: LagRule
  /** Of the oldest transaction that a subscription has not handled. */
  readonly subscriptionLag: AgeLimits
  readonly inboxes: InboxLimits
}

/** One count or age, compared with its limits. */
export type Check =
  | (Counted & { readonly name: 'overdue'; readonly found: Findings<LimitedStream> })
  | (Counted & { readonly name: 'failed'; readonly found: Findings<FailedStream> })
  | (Counted & { readonly name: 'blocked' | 'undo'; readonly found: Findings<FailedStream> })
  | (Counted & { readonly name: 'abandoned'; readonly found: Findings<AbandonedStream> })
  | {
      readonly name: 'waiting'
      readonly status: CheckStatus
      readonly limits: AgeLimits
      readonly found: Findings<WaitingStream>
      /** Age of the oldest ready event, ms; `undefined` without one. */
      readonly oldestMs: number | undefined
    }
  | (Counted & { readonly name: 'stuck'; readonly found: Findings<StuckLease> })
  | (Counted & { readonly name: 'unreadable'; readonly found: Findings<UnreadableStream> })
  | (Counted & { readonly name: 'subscriptions'; readonly found: Findings<TroubledSubscription> })
  | (Counted & { readonly name: 'inboxes'; readonly found: Findings<TroubledInbox> })
  | { readonly name: 'watchdog'; readonly status: CheckStatus; readonly verdict: WatchdogVerdict }

interface Counted {
  readonly status: CheckStatus
  readonly limits: CountLimits
}

/** The result of a check of a store. */
export interface CheckResult {
  /** The worst status of all checks. */
  readonly status: CheckStatus
  /** Always the same checks in the same order; `subscriptions` and `inboxes` only where there are some. */
  readonly checks: readonly Check[]
  readonly look: StoreScan
  /** All subscriptions; none in a check of some names. */
  readonly subscriptions: readonly SubscriptionSeen[]
  /** All inboxes; none in a check of some names. */
  readonly inboxes: readonly InboxSeen[]
  /** The pattern of the checked names; `undefined` for all. */
  readonly match: string | undefined
  /** All watchdogs in the store, stopped ones included. */
  readonly watchdogs: readonly WatchdogSeen[]
  /** The watchdogs that sweep in time. */
  readonly sweeping: readonly WatchdogSeen[]
}

/** A stream that is blocked, and a subscription or an inbox in trouble, waits for a person. */
const ONE_WARNS: CountLimits = { warn: 1 }
/** What a stream did and could not undo stays done. */
const ONE_IS_CRITICAL: CountLimits = { warn: 1, crit: 1 }

/** What is checked beside the streams. */
interface Beside {
  readonly subscriptions?: readonly SubscriptionSeen[]
  readonly inboxes?: readonly InboxSeen[]
}

/** Compares a scan with the limits. */
export function judge(
  look: StoreScan,
  state: WatchdogState,
  limits: CheckLimits,
  { subscriptions = [], inboxes = [] }: Beside = {},
): CheckResult {
  const { overdue, failed, blocked, notUndone, abandoned, stuck, unreadable } = look
  const verdict = judgeWatchdogs(state, look, limits.lag)
  const checks: readonly Check[] = [
    { name: 'overdue', found: overdue, ...counted(overdue.count, limits.overdue) },
    { name: 'failed', found: failed, ...counted(failed.count, limits.failed) },
    { name: 'blocked', found: blocked, ...counted(blocked.count, ONE_WARNS) },
    { name: 'undo', found: notUndone, ...counted(notUndone.count, ONE_IS_CRITICAL) },
    { name: 'abandoned', found: abandoned, ...counted(abandoned.count, limits.abandoned) },
    waitingCheck(look, limits.waiting),
    { name: 'stuck', found: stuck, ...counted(stuck.count, limits.stuck) },
    { name: 'unreadable', found: unreadable, ...counted(unreadable.count, limits.unreadable) },
    ...subscriptionChecks(subscriptions, limits),
    ...inboxChecks(inboxes, limits),
    { name: 'watchdog', status: verdict.faults[0]?.status ?? 'ok', verdict },
  ]
  return {
    status: worst(checks.map(check => check.status)),
    checks,
    look,
    subscriptions,
    inboxes,
    match: limits.lag.match,
    watchdogs: state.watchdogs,
    sweeping: sweepingOf(state.watchdogs, limits.lag, look.nowMs),
  }
}

function subscriptionChecks(seen: readonly SubscriptionSeen[], { subscriptionLag }: CheckLimits): readonly Check[] {
  if (seen.length === 0) return []
  return [{ name: 'subscriptions', limits: ONE_WARNS, ...troubledSubscriptions(seen, subscriptionLag) }]
}

function inboxChecks(seen: readonly InboxSeen[], { inboxes }: CheckLimits): readonly Check[] {
  return seen.length === 0 ? [] : [{ name: 'inboxes', limits: ONE_WARNS, ...troubledInboxes(seen, inboxes) }]
}

function waitingCheck({ waiting, readySinceMs, nowMs }: StoreScan, limits: AgeLimits): Check {
  const oldestMs = readySinceMs === undefined ? undefined : Math.max(0, nowMs - readySinceMs)
  return { name: 'waiting', status: ageStatus(oldestMs, limits), limits, found: waiting, oldestMs }
}

function counted(count: number, limits: CountLimits): Counted {
  return { status: countStatus(count, limits), limits }
}

import type { WatchdogState } from '../watchdog-state/state.ts'
import type { Findings, LimitedStream, StoreScan, StuckLease, UnreadableStream } from './scan.ts'
import {
  type CheckStatus,
  judgeWatchdogs,
  type LagRule,
  sweepingOf,
  type WatchdogSeen,
  type WatchdogVerdict,
} from './watchdogs.ts'

/** Thresholds of a count; without `crit` it is never critical. */
export interface CountLimits {
  readonly warn: number
  readonly crit?: number
}

export interface CheckLimits {
  readonly overdue: CountLimits
  readonly stuck: CountLimits
  readonly unreadable: CountLimits
  readonly lag: LagRule
}

/** One count, compared with its limits. */
export type Check =
  | (Counted & { readonly name: 'overdue'; readonly found: Findings<LimitedStream> })
  | (Counted & { readonly name: 'stuck'; readonly found: Findings<StuckLease> })
  | (Counted & { readonly name: 'unreadable'; readonly found: Findings<UnreadableStream> })
  | { readonly name: 'watchdog'; readonly status: CheckStatus; readonly verdict: WatchdogVerdict }

interface Counted {
  readonly status: CheckStatus
  readonly limits: CountLimits
}

/** The result of a check of a store. */
export interface CheckResult {
  /** The worst status of all checks. */
  readonly status: CheckStatus
  /** Always four checks in the same order. */
  readonly checks: readonly Check[]
  readonly look: StoreScan
  /** The pattern of the checked names; `undefined` for all. */
  readonly match: string | undefined
  /** All watchdogs in the store, stopped ones included. */
  readonly watchdogs: readonly WatchdogSeen[]
  /** The watchdogs that sweep in time. */
  readonly sweeping: readonly WatchdogSeen[]
}

/** Compares a scan with the limits. */
export function judge(look: StoreScan, state: WatchdogState, limits: CheckLimits): CheckResult {
  const { overdue, stuck, unreadable } = look
  const verdict = judgeWatchdogs(state, look, limits.lag)
  const checks: readonly Check[] = [
    { name: 'overdue', found: overdue, ...counted(overdue.count, limits.overdue) },
    { name: 'stuck', found: stuck, ...counted(stuck.count, limits.stuck) },
    { name: 'unreadable', found: unreadable, ...counted(unreadable.count, limits.unreadable) },
    { name: 'watchdog', status: verdict.faults[0]?.status ?? 'ok', verdict },
  ]
  return {
    status: worst(checks.map(check => check.status)),
    checks,
    look,
    match: limits.lag.match,
    watchdogs: state.watchdogs,
    sweeping: sweepingOf(state.watchdogs, limits.lag, look.nowMs),
  }
}

function counted(count: number, limits: CountLimits): Counted {
  const { warn, crit = Number.POSITIVE_INFINITY } = limits
  return { status: count >= crit ? 'critical' : count >= warn ? 'warning' : 'ok', limits }
}

function worst(all: readonly CheckStatus[]): CheckStatus {
  if (all.includes('critical')) return 'critical'
  return all.includes('warning') ? 'warning' : 'ok'
}

import { storedGlobOf } from '../glob.ts'
import { MOST_SKEW_MS, type WatchdogEntry, type WatchdogState } from '../watchdog-state/state.ts'
import type { Findings, LimitedStream, StoreScan, UnsettledStream } from './scan.ts'
import type { CheckStatus } from './status.ts'

/** A watchdog's entry in the state document of the store. */
export type WatchdogSeen = Pick<
  WatchdogEntry,
  | 'id'
  | 'host'
  | 'pid'
  | 'startedMs'
  | 'stoppedMs'
  | 'lastSweepMs'
  | 'intervalMs'
  | 'tookMs'
  | 'settings'
  | 'breaker'
  | 'shards'
  | 'failure'
>

/** Limits for the lag of a watchdog; absent ones follow from its interval. */
export interface LagRule {
  /** Warning from this lag on, ms. Default: three intervals and 10 s. */
  readonly warnMs?: number
  /** Critical from this lag on, ms. Default: ten intervals and 1 min. */
  readonly critMs?: number
  /** No watchdog at all is critical, even if no event has a timeout. */
  readonly isRequired: boolean
  /** The pattern of the checked names: a watchdog with the same pattern covers them. */
  readonly match?: string
}

/** A problem of the watchdogs. */
export type WatchdogFault =
  /** There is no watchdog; `withLimit` streams have an unwatched deadline. */
  | { readonly kind: 'missing'; readonly status: CheckStatus; readonly withLimit: number }
  /** The state document of the watchdogs is unreadable. */
  | { readonly kind: 'damaged'; readonly status: CheckStatus }
  /** No watchdog's pattern matches the names of these streams with a deadline. */
  | { readonly kind: 'unwatched'; readonly status: CheckStatus; readonly streams: Findings<LimitedStream> }
  /** No watchdog settles these streams: they stand still although they could close or continue. */
  | { readonly kind: 'unsettled'; readonly status: CheckStatus; readonly streams: Findings<UnsettledStream> }
  /** No watchdog has swept for too long. */
  | { readonly kind: 'late'; readonly status: CheckStatus; readonly lagMs: number; readonly watchdog: WatchdogSeen }
  /** Its circuit breaker stopped its last pass: it aborts nothing until an operator decides. */
  | { readonly kind: 'breaker-open'; readonly status: CheckStatus; readonly watchdog: WatchdogSeen }
  /** No sweeping watchdog holds these shards. */
  | {
      readonly kind: 'shards-unheld'
      readonly status: CheckStatus
      readonly shards: readonly number[]
      readonly total: number
    }

/** The verdict on the watchdogs. */
export interface WatchdogVerdict {
  /** The watchdog that swept last; if they watch different names, that of the worst group. */
  readonly best: WatchdogSeen | undefined
  /** Time since the end of its last sweep, before the first since its start, ms. */
  readonly lagMs: number | undefined
  /** The limits that were applied, ms. */
  readonly warnMs: number | undefined
  readonly critMs: number | undefined
  /** Worst first; empty if there is no problem. */
  readonly faults: readonly WatchdogFault[]
}

/**
 * Judges the watchdogs of a store. One sweeping watchdog is enough for its names; breakers and shards count only for
 * sweeping ones. A watchdog that stopped regularly does not count. Streams to settle are reported in any case.
 */
export function judgeWatchdogs(
  state: Pick<WatchdogState, 'damaged'> & { readonly watchdogs: readonly WatchdogSeen[] },
  look: Pick<StoreScan, 'withLimit' | 'unwatched' | 'unsettled' | 'nowMs'>,
  rule: LagRule,
): WatchdogVerdict {
  const verdict = judgeThose(state, look, rule)
  const { unsettled: streams } = look
  if (streams.count === 0) return verdict
  return {
    ...verdict,
    faults: [...verdict.faults, { kind: 'unsettled', status: 'warning', streams } as const].sort(byStatus),
  }
}

function judgeThose(
  { watchdogs, damaged }: Pick<WatchdogState, 'damaged'> & { readonly watchdogs: readonly WatchdogSeen[] },
  { withLimit, unwatched, nowMs }: Pick<StoreScan, 'withLimit' | 'unwatched' | 'nowMs'>,
  rule: LagRule,
): WatchdogVerdict {
  const groups = Map.groupBy(watchdogs.filter(isThere), ({ settings }) => settings.match)
  const own = [...groups].filter(([match]) => match === undefined || match === rule.match)
  const all = [...groups].map(([, group]) => judgeGroup(group, rule, nowMs))
  const sufficient = own.map(([, group]) => judgeGroup(group, rule, nowMs)).filter(isSweeping)
  const [first, ...others] = (sufficient.length > 0 ? sufficient : all).sort(worseFirst)
  if (first === undefined) return noneThere(withLimit, damaged, rule)
  const faults = [...[first, ...others].flatMap(verdict => verdict.faults), ...outside(unwatched)]
  return { ...first, faults: faults.sort(byStatus) }
}

/** Whether a running watchdog covers streams of a name; `undefined` without watchdogs. */
export function watchedBy(watchdogs: readonly WatchdogSeen[]): ((name: string) => boolean) | undefined {
  const patterns = new Set(watchdogs.filter(isThere).map(({ settings }) => settings.match))
  if (patterns.size === 0) return undefined
  const globs = [...patterns].map(pattern => (pattern === undefined ? undefined : storedGlobOf(pattern)))
  return name => globs.some(glob => glob === undefined || glob.matches(name))
}

/** The sweeping watchdogs: neither stopped nor late. @param nowMs the store's clock, epoch ms */
export function sweepingOf(watchdogs: readonly WatchdogSeen[], rule: LagRule, nowMs: number): readonly WatchdogSeen[] {
  return watchdogs.filter(one => isThere(one) && lagOf(one, nowMs) < limitsFor(one, rule).warnMs)
}

function isThere({ stoppedMs }: WatchdogSeen): boolean {
  return stoppedMs === undefined
}

function outside(streams: Findings<LimitedStream>): WatchdogFault[] {
  return streams.count === 0 ? [] : [{ kind: 'unwatched', status: 'warning', streams }]
}

function noneThere(withLimit: number, damaged: boolean, { isRequired, warnMs, critMs }: LagRule): WatchdogVerdict {
  const none = { best: undefined, lagMs: undefined, warnMs, critMs }
  if (damaged) return { ...none, faults: [{ kind: 'damaged', status: isRequired ? 'critical' : 'warning' }] }
  if (!isRequired && withLimit === 0) return { ...none, faults: [] }
  return { ...none, faults: [{ kind: 'missing', status: isRequired ? 'critical' : 'warning', withLimit }] }
}

/** Judges the watchdogs of the same names. */
function judgeGroup(group: readonly WatchdogSeen[], rule: LagRule, nowMs: number): WatchdogVerdict {
  const best = group.reduce((a, b) => (lagOf(b, nowMs) < lagOf(a, nowMs) ? b : a))
  const lagMs = lagOf(best, nowMs)
  const { warnMs, critMs } = limitsFor(best, rule)
  const sweeping = sweepingOf(group, rule, nowMs)
  const faults = [...lateness(best, lagMs, warnMs, critMs), ...openBreakers(sweeping), ...unheldShards(sweeping)]
  return { best, lagMs, warnMs, critMs, faults: faults.sort(byStatus) }
}

function isSweeping({ faults }: WatchdogVerdict): boolean {
  return !faults.some(({ kind }) => kind === 'late')
}

/** The lag of a watchdog. A time further ahead than clocks may differ is wrong: it counts as a lag of that length. */
function lagOf({ lastSweepMs, startedMs }: WatchdogSeen, nowMs: number): number {
  const lagMs = nowMs - (lastSweepMs ?? startedMs)
  return lagMs < -MOST_SKEW_MS ? -lagMs : Math.max(0, lagMs)
}

/** A sweep may take longer than the interval. A given limit shifts the default of the other. */
function limitsFor({ intervalMs, tookMs }: WatchdogSeen, { warnMs, critMs }: LagRule) {
  const cadenceMs = Math.max(intervalMs, tookMs)
  const usualWarnMs = 3 * cadenceMs + 10_000
  const usualCritMs = 10 * cadenceMs + 60_000
  return {
    warnMs: warnMs ?? Math.min(usualWarnMs, critMs ?? usualWarnMs),
    critMs: critMs ?? Math.max(usualCritMs, warnMs ?? usualCritMs),
  }
}

function lateness(watchdog: WatchdogSeen, lagMs: number, warnMs: number, critMs: number): WatchdogFault[] {
  if (lagMs < warnMs) return []
  return [{ kind: 'late', status: lagMs >= critMs ? 'critical' : 'warning', lagMs, watchdog }]
}

function openBreakers(sweeping: readonly WatchdogSeen[]): WatchdogFault[] {
  const watchdog = sweeping.find(({ breaker }) => breaker?.isOpen === true)
  return watchdog === undefined ? [] : [{ kind: 'breaker-open', status: 'critical', watchdog }]
}

/** The shards without a watchdog of them or of all streams. If the numbers of shards differ, the better set counts. */
function unheldShards(sweeping: readonly WatchdogSeen[]): WatchdogFault[] {
  const sharing = sweeping.flatMap(({ shards }) => shards ?? [])
  if (sharing.length < sweeping.length) return []
  const sets = [...Map.groupBy(sharing, ({ total }) => total)].map(([total, set]) => {
    const held = new Set(set.flatMap(one => one.held))
    return { total, shards: Array.from({ length: total }, (_, shard) => shard).filter(shard => !held.has(shard)) }
  })
  const [best] = sets.sort((a, b) => a.shards.length - b.shards.length)
  return best === undefined || best.shards.length === 0 ? [] : [{ kind: 'shards-unheld', status: 'warning', ...best }]
}

function worseFirst(a: WatchdogVerdict, b: WatchdogVerdict): number {
  return rank(a.faults[0]) - rank(b.faults[0]) || (b.lagMs ?? 0) - (a.lagMs ?? 0)
}

function byStatus(a: WatchdogFault, b: WatchdogFault): number {
  return rank(a) - rank(b)
}

function rank(fault: WatchdogFault | undefined): number {
  if (fault === undefined) return 2
  return fault.status === 'critical' ? 0 : 1
}

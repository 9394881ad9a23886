import { storedGlobOf } from '../glob.ts'
import { MOST_SKEW_MS, type WatchdogEntry, type WatchdogState } from '../watchdog-state/state.ts'
import type { Findings, LimitedStream, StoreScan, UnsettledStream } from './scan.ts'

/** A watchdog of the store, as it left word of itself. */
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

/** How late a watchdog may be; what is not given follows from its interval. */
export interface LagRule {
  /** Warning from this lag on, ms. Default: three intervals and 10 s. */
  readonly warnMs?: number
  /** Critical from this lag on, ms. Default: ten intervals and 1 min. */
  readonly critMs?: number
  /** Without any watchdog: critical, whether something has a limit or not. */
  readonly isRequired: boolean
  /** The pattern of the names that are checked: a watchdog with the same one is theirs. */
  readonly match?: string
}

export type CheckStatus = 'ok' | 'warning' | 'critical'

/** What is wrong about the watchdogs. */
export type WatchdogFault =
  /** There is none; `withLimit` streams have a limit that nobody watches. */
  | { readonly kind: 'missing'; readonly status: CheckStatus; readonly withLimit: number }
  /** What they wrote of themselves cannot be understood. */
  | { readonly kind: 'damaged'; readonly status: CheckStatus }
  /** There are some, but none whose pattern has the names of these streams with a limit. */
  | { readonly kind: 'unwatched'; readonly status: CheckStatus; readonly streams: Findings<LimitedStream> }
  /** Nobody settles these: they stand still although nothing in them is left to do, or somebody could go on. */
  | { readonly kind: 'unsettled'; readonly status: CheckStatus; readonly streams: Findings<UnsettledStream> }
  /** None has swept for too long. */
  | { readonly kind: 'late'; readonly status: CheckStatus; readonly lagMs: number; readonly watchdog: WatchdogSeen }
  /** Its breaker stopped its last pass: nothing is ended until somebody has looked. */
  | { readonly kind: 'breaker-open'; readonly status: CheckStatus; readonly watchdog: WatchdogSeen }
  /** No watchdog that sweeps holds these. */
  | {
      readonly kind: 'shards-unheld'
      readonly status: CheckStatus
      readonly shards: readonly number[]
      readonly total: number
    }

/** How the watchdogs stand. */
export interface WatchdogVerdict {
  /** The one that swept last; where they watch different names, of those that are worst off. */
  readonly best: WatchdogSeen | undefined
  /** Time since the end of its last sweep, before the first since its start, ms. */
  readonly lagMs: number | undefined
  /** The limits that were applied, ms. */
  readonly warnMs: number | undefined
  readonly critMs: number | undefined
  /** Worst first; empty where all is well. */
  readonly faults: readonly WatchdogFault[]
}

/**
 * Judges the watchdogs of a store. One that sweeps is enough for the names it watches; breakers and shards count only of
 * those that do. Who has ended in good order is not there. What waits to be settled is told whoever watches it.
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

/** Whether one of the watchdogs that are there watches streams of that name; `undefined` where there is none. */
export function watchedBy(watchdogs: readonly WatchdogSeen[]): ((name: string) => boolean) | undefined {
  const patterns = new Set(watchdogs.filter(isThere).map(({ settings }) => settings.match))
  if (patterns.size === 0) return undefined
  const globs = [...patterns].map(pattern => (pattern === undefined ? undefined : storedGlobOf(pattern)))
  return name => globs.some(glob => glob === undefined || glob.matches(name))
}

/** Those that sweep: they have not ended, and are not late. @param nowMs the store's clock, epoch ms */
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

/** Those that watch the same names. */
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

/** What lies further ahead than clocks differ tells nothing of now: as far ahead as it is, it lags. */
function lagOf({ lastSweepMs, startedMs }: WatchdogSeen, nowMs: number): number {
  const lagMs = nowMs - (lastSweepMs ?? startedMs)
  return lagMs < -MOST_SKEW_MS ? -lagMs : Math.max(0, lagMs)
}

/** A sweep that takes longer than the interval is followed by the next one at once. A limit that is given moves the other. */
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

/** One that watches all streams leaves none out. Where they disagree on how many shards there are, the better set counts. */
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

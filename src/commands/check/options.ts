import type { GlobalOptions } from '../../cli/options.ts'
import { UsageError } from '../../cli/problem.ts'
import type { AgeLimits, CheckLimits, CountLimits } from '../../ops/check/check.ts'
import type { LagRule } from '../../ops/check/watchdogs.ts'
import { formatDuration } from '../../stream/time/durations.ts'
import { defined } from '../../util/defined.ts'

/** Durations in ms. */
export interface CheckOptions extends GlobalOptions {
  /** Several contexts, if `-c` names more than one. */
  readonly contexts?: readonly string[]
  readonly match?: string
  readonly within?: number
  readonly overdueFor?: number
  readonly warnOverdue?: number
  readonly critOverdue?: number
  readonly failedSince?: number
  readonly warnFailed?: number
  readonly critFailed?: number
  readonly warnAbandoned?: number
  readonly critAbandoned?: number
  readonly warnWaiting?: number
  readonly critWaiting?: number
  readonly stuckAfter?: number
  readonly warnStuck?: number
  readonly critStuck?: number
  readonly warnUnreadable?: number
  readonly critUnreadable?: number
  readonly warnLag?: number
  readonly critLag?: number
  readonly requireWatchdog?: boolean
}

/** @throws UsageError if a warning limit is above its critical limit */
export function limitsOf(options: CheckOptions): CheckLimits {
  const { warnOverdue, critOverdue, warnFailed, critFailed, warnAbandoned, critAbandoned } = options
  const { warnStuck, critStuck, warnUnreadable, critUnreadable } = options
  return {
    overdue: countLimits('overdue', warnOverdue, critOverdue, 10),
    failed: countLimits('failed', warnFailed, critFailed, 10),
    abandoned: countLimits('abandoned', warnAbandoned, critAbandoned, 10),
    waiting: waitingLimits(options),
    stuck: countLimits('stuck', warnStuck, critStuck, 10),
    unreadable: countLimits('unreadable', warnUnreadable, critUnreadable, undefined),
    lag: lagRule(options),
  }
}

function countLimits(
  name: string,
  warn: number = 1,
  givenCrit: number | undefined,
  usualCrit: number | undefined,
): CountLimits {
  const crit = givenCrit ?? usualCrit
  if (crit === undefined) return { warn }
  if (warn <= crit) return { warn, crit }
  const usual = givenCrit === undefined ? ', the default' : ''
  throw new UsageError(`--warn-${name} ${warn} is above --crit-${name} ${crit}${usual}`, {
    hint: `It would never warn. Give --crit-${name} ${warn} or more.`,
  })
}

const WARN_WAITING_MS = 24 * 3_600_000

/** A critical limit below the default of the warning moves that. */
function waitingLimits({ warnWaiting, critWaiting }: CheckOptions): AgeLimits {
  if (critWaiting === undefined) return { warnMs: warnWaiting ?? WARN_WAITING_MS }
  if (warnWaiting !== undefined && warnWaiting > critWaiting) {
    const limits = [warnWaiting, critWaiting].map(ms => formatDuration(ms))
    throw new UsageError(`--warn-waiting ${limits[0]} is above --crit-waiting ${limits[1]}`, {
      hint: 'It would never warn; swap them.',
    })
  }
  return { warnMs: warnWaiting ?? Math.min(WARN_WAITING_MS, critWaiting), critMs: critWaiting }
}

/** A given limit moves the default of the other one, which depends on the watchdog's interval. */
function lagRule({ warnLag, critLag, match, requireWatchdog = false }: CheckOptions): LagRule {
  if (warnLag !== undefined && critLag !== undefined && warnLag > critLag) {
    throw new UsageError('--warn-lag is above --crit-lag', { hint: 'It would never warn; swap them.' })
  }
  return {
    isRequired: requireWatchdog,
    ...defined({ match, warnMs: warnLag, critMs: critLag }),
  }
}

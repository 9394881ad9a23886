import type { GlobalOptions } from '../../cli/options.ts'
import { UsageError } from '../../cli/problem.ts'
import type { CheckLimits, CountLimits } from '../../ops/check/check.ts'
import type { LagRule } from '../../ops/check/watchdogs.ts'
import { defined } from '../../util/defined.ts'

/** Durations in ms. */
export interface CheckOptions extends GlobalOptions {
  readonly match?: string
  readonly within?: number
  readonly overdueFor?: number
  readonly warnOverdue?: number
  readonly critOverdue?: number
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
  const { warnOverdue, critOverdue, warnStuck, critStuck, warnUnreadable, critUnreadable } = options
  return {
    overdue: countLimits('overdue', warnOverdue, critOverdue, 10),
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

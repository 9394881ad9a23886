import type { GlobalOptions } from '../../cli/options.ts'
import { UsageError } from '../../cli/problem.ts'
import type { CheckLimits } from '../../ops/check/check.ts'
import type { AgeLimits, CountLimits } from '../../ops/check/status.ts'
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
  readonly warnSubscriptionLag?: number
  readonly critSubscriptionLag?: number
  readonly warnInboxAge?: number
  readonly critInboxAge?: number
  readonly warnDead?: number
  readonly critDead?: number
}

/** @throws UsageError if a warning limit is above its critical limit */
export function limitsOf(options: CheckOptions): CheckLimits {
  const { warnOverdue, critOverdue, warnFailed, critFailed, warnAbandoned, critAbandoned } = options
  const { warnStuck, critStuck, warnUnreadable, critUnreadable } = options
  return {
    overdue: countLimits('overdue', warnOverdue, critOverdue, 10),
    failed: countLimits('failed', warnFailed, critFailed, 10),
    abandoned: countLimits('abandoned', warnAbandoned, critAbandoned, 10),
    waiting: ageLimits('waiting', options.warnWaiting, options.critWaiting, { warnMs: 24 * HOUR_MS }),
    stuck: countLimits('stuck', warnStuck, critStuck, 10),
    unreadable: countLimits('unreadable', warnUnreadable, critUnreadable, undefined),
    lag: lagRule(options),
    subscriptionLag: ageLimits('subscription-lag', options.warnSubscriptionLag, options.critSubscriptionLag, {
      warnMs: 5 * MINUTE_MS,
    }),
    inboxes: {
      age: ageLimits('inbox-age', options.warnInboxAge, options.critInboxAge, {
        warnMs: 5 * MINUTE_MS,
        critMs: HOUR_MS,
      }),
      dead: countLimits('dead', options.warnDead, options.critDead, undefined),
    },
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

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** A given limit moves the default of the other one. */
function ageLimits(name: string, warn: number | undefined, crit: number | undefined, usual: AgeLimits): AgeLimits {
  if (warn !== undefined && crit !== undefined && warn > crit) {
    const limits = [warn, crit].map(ms => formatDuration(ms))
    throw new UsageError(`--warn-${name} ${limits[0]} is above --crit-${name} ${limits[1]}`, {
      hint: 'It would never warn; swap them.',
    })
  }
  const warnMs = warn ?? Math.min(usual.warnMs, crit ?? usual.warnMs)
  const critMs = crit ?? (usual.critMs === undefined ? undefined : Math.max(usual.critMs, warnMs))
  return { warnMs, ...(critMs !== undefined && { critMs }) }
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

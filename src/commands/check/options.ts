import type { GlobalOptions } from '../../cli/options.ts'

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

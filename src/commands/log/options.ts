import type { GlobalOptions } from '../../cli/options.ts'
import { UsageError } from '../../cli/problem.ts'
import type { SelectionOptions } from '../../cli/selection/flags.ts'
import { atMs, type PointInTime, sinceMsOf } from '../../cli/values.ts'
import type { Glob } from '../../ops/glob.ts'
import type { LogQuery } from '../../ops/log.ts'
import { defined } from '../../util/defined.ts'

/** Here, `since` filters transactions, not streams. */
export interface LogCommandOptions extends GlobalOptions, SelectionOptions {
  readonly until?: PointInTime
  readonly by?: Glob
  readonly op?: readonly string[]
  /** The audit log of the store, not the journals of streams. */
  readonly audit?: boolean
  /** Number of latest transactions; `Infinity` for all. */
  readonly lines?: number
}

/** The filter of the flags. @throws UsageError */
export function queryOf({ since, until, by, op }: LogCommandOptions, nowMs: number): LogQuery {
  const sinceMs = since && sinceMsOf(since, nowMs)
  const untilMs = until && atMs(until, nowMs)
  if (sinceMs !== undefined && untilMs !== undefined && sinceMs > untilMs) {
    throw new UsageError('--since is later than --until', { hint: 'Swap them.' })
  }
  return defined({ sinceMs, untilMs, by, ops: op })
}

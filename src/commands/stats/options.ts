import type { GlobalOptions } from '../../cli/options.ts'
import type { SelectionOptions } from '../../cli/selection/flags.ts'
import type { StepBy, StepOrder } from '../../ops/stats/stats.ts'

/** Here, `since` filters ended attempts, not streams. */
export interface StatsOptions extends GlobalOptions, SelectionOptions {
  readonly groupBy?: StepBy
  readonly sort?: StepOrder
  readonly limit?: number
}

import type { GlobalOptions } from '../../cli/options.ts'
import type { SelectionOptions } from '../../cli/selection/flags.ts'
import type { StepBy, StepOrder } from '../../ops/stats/stats.ts'

/** `since` is about ends here, not about streams. */
export interface StatsOptions extends GlobalOptions, SelectionOptions {
  readonly groupBy?: StepBy
  readonly sort?: StepOrder
  readonly limit?: number
}

import type { StepBy, StepOrder } from '../../ops/stats.ts'
import type { GlobalOptions } from '../options.ts'
import type { SelectionOptions } from '../selection/flags.ts'

/** `since` is about ends here, not about streams. */
export interface StatsOptions extends GlobalOptions, SelectionOptions {
  readonly groupBy?: StepBy
  readonly sort?: StepOrder
  readonly limit?: number
}

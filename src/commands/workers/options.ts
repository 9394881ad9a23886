import type { GlobalOptions } from '../../cli/options.ts'
import type { FilterOptions } from '../../cli/selection/flags.ts'

export interface WorkersOptions extends GlobalOptions, FilterOptions {
  readonly events?: boolean
  readonly watch?: boolean
  /** Pause between two listings, ms. */
  readonly interval?: number
}

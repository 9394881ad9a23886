import type { GlobalOptions } from '../../cli/options.ts'
import type { FilterOptions } from '../../cli/selection/flags.ts'
import type { ListingChoice } from '../../formats/listing/fields.ts'
import type { GroupBy } from '../../ops/group-totals.ts'
import type { SortKey } from './sort-key.ts'

export interface LsOptions extends GlobalOptions, FilterOptions {
  readonly sort?: SortKey
  readonly limit?: number
  readonly fields?: readonly ListingChoice[]
  readonly groupBy?: GroupBy
  readonly watch?: boolean
  /** ms between two looks. */
  readonly interval?: number
}

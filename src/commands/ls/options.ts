import type { GlobalOptions } from '../../cli/options.ts'
import type { FilterOptions } from '../../cli/selection/flags.ts'
import { type SortOrder, sortOrder } from '../../cli/sort-order.ts'
import type { PointInTime } from '../../cli/values.ts'
import type { ListingChoice } from '../../formats/listing/fields.ts'
import type { GroupBy } from '../../ops/groups.ts'

export interface LsOptions extends GlobalOptions, FilterOptions {
  /** Several contexts, if `-c` names more than one. */
  readonly contexts?: readonly string[]
  readonly sort?: SortKey
  readonly limit?: number
  readonly fields?: readonly ListingChoice[]
  readonly groupBy?: GroupBy
  readonly watch?: boolean
  /** Lists the streams as they were at this time. */
  readonly at?: PointInTime
  /** Pause between two listings, ms. */
  readonly interval?: number
}

/** Keys of `--sort`: fields of the JSON, and `age`, which is `created` in reverse. */
export const SORT_FIELDS = [
  'name',
  'status',
  'due',
  'readySince',
  'age',
  'created',
  'modified',
  'failedAt',
  'failed',
  'open',
  'total',
  'version',
  'root',
  'key',
  'topic',
  'tag',
  'trackingId',
  'outcome',
  'lastBy',
] as const

export type SortKey = SortOrder<(typeof SORT_FIELDS)[number]>

/** Reads `due`, `-due`, `due:desc` and `due:asc`. */
export const sortKey = sortOrder(SORT_FIELDS)

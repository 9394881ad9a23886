import type { GlobalOptions } from '../../cli/options.ts'
import { UsageError } from '../../cli/problem.ts'
import type { FilterOptions } from '../../cli/selection/flags.ts'
import { choice, type PointInTime } from '../../cli/values.ts'
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

export interface SortKey {
  readonly field: (typeof SORT_FIELDS)[number]
  readonly descending: boolean
}

/** Reads `due`, `-due`, `due:desc` and `due:asc`. */
export function sortKey(text: string): SortKey {
  const [, minus = '', field = '', order = ''] = /^(-?)(.*?)(:asc|:desc)?$/s.exec(text) ?? []
  if (minus !== '' && order !== '') {
    throw new UsageError(`--sort ${text} gives the order twice`, { hint: `Write --sort ${field}${order}.` })
  }
  const known = choice('--sort', SORT_FIELDS)(field)
  return { field: known as SortKey['field'], descending: minus !== '' || order === ':desc' }
}

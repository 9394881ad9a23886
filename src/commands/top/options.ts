import type { GlobalOptions } from '../../cli/options.ts'
import type { FilterOptions } from '../../cli/selection/flags.ts'
import type { SortOrder } from '../../cli/sort-order.ts'

export const THEMES = ['auto', 'dark', 'light', 'mono'] as const

/** Columns by which the list of streams can be sorted from the start. */
export const TOP_SORTS = ['name', 'status', 'failed', 'due', 'age', 'changed'] as const

export type ThemeChoice = (typeof THEMES)[number]

/** Arguments and flags of `top`. */
export interface TopOptions extends GlobalOptions, FilterOptions {
  /** Several contexts, if `-c` names more than one. */
  readonly contexts?: readonly string[]
  /** The stream to open; it need not exist yet. */
  readonly stream?: string
  /** Time between polls, ms. */
  readonly interval?: number
  /** Changes are unlocked from the start. */
  readonly write?: boolean
  /** Changes can never be unlocked. */
  readonly readOnly?: boolean
  readonly theme?: ThemeChoice
  /** Draw with ASCII characters only; false: never. */
  readonly ascii?: boolean
  /** Ring when something fails. */
  readonly bell?: boolean
  /** Take clicks and the wheel. */
  readonly mouse?: boolean
  /** Streams listed as lines. */
  readonly limit?: number
  readonly sort?: SortOrder<(typeof TOP_SORTS)[number]>
  /** Print lines instead of a screen. */
  readonly accessible?: boolean
}

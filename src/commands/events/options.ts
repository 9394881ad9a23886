import type { GlobalOptions } from '../../cli/options.ts'
import type { FilterOptions } from '../../cli/selection/flags.ts'
import type { EventState } from '../../ops/events.ts'

/** The values of `--state`. */
export const LISTED_STATES = [
  'ready',
  'running',
  'abandoned',
  'held',
  'suspended',
  'overdue',
  'failed',
] as const satisfies readonly EventState[]

export interface EventsOptions extends GlobalOptions, FilterOptions {
  readonly name?: readonly string[]
  readonly state?: readonly EventState[]
  readonly due?: boolean
  readonly sort?: 'wake' | 'age'
  readonly limit?: number
}

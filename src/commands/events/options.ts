import type { GlobalOptions } from '../../cli/options.ts'
import type { FilterOptions } from '../../cli/selection/flags.ts'
import type { EventState } from '../../ops/events.ts'

/** The values of `--state`. */
export const LISTED_STATES = [
  'ready',
  'running',
  'waiting',
  'abandoned',
  'held',
  'suspended',
  'overdue',
  'failed',
] as const satisfies readonly EventState[]

export interface EventsOptions extends GlobalOptions, Omit<FilterOptions, 'state'> {
  readonly name?: readonly string[]
  readonly state?: readonly EventState[]
  /** What the gate of an event waits for. */
  readonly waitingFor?: readonly string[]
  readonly due?: boolean
  readonly sort?: 'wake' | 'age'
  readonly limit?: number
}

import type { GlobalOptions } from '../../cli/options.ts'
import type { SelectionOptions } from '../../cli/selection/flags.ts'
import type { WaitTarget } from '../../ops/wait-target.ts'

export interface WaitCommandOptions extends GlobalOptions, SelectionOptions {
  readonly for?: WaitTarget
  readonly any?: boolean
  readonly failFast?: boolean
  readonly mayAppear?: boolean
  /** ms. */
  readonly within?: number
  /** ms between two looks. */
  readonly interval?: number
}

import type { ChangeFlags, GlobalOptions } from '../../cli/options.ts'
import type { SelectionOptions } from '../../cli/selection/flags.ts'
import type { OutcomeWord } from './outcome-words.ts'

/** Arguments and flags of the commands that do one thing to streams, or to events of them. */
export interface OnStreamsOptions extends GlobalOptions, ChangeFlags, SelectionOptions {
  readonly event?: readonly string[]
  readonly skipMissing?: boolean
  readonly dryRun?: boolean
  readonly yes?: boolean
  /** How many streams there have to be. */
  readonly expect?: number
  /** How many streams are changed at a time. */
  readonly concurrency?: number
  /** A run file, of which the rest is to be done. */
  readonly rerun?: string
  /** Which outcomes of it are repeated. */
  readonly only?: readonly OutcomeWord[]
  /** Of `rm`: open streams too. */
  readonly force?: boolean
  /** Of `rm`: blobs whose names no stream can have. */
  readonly blob?: readonly string[]
}

/** The same with the one who does it. */
export interface SignedOptions extends OnStreamsOptions {
  readonly by: string
}

import type { Description } from '../../cli/command.ts'
import type { ChangeFlags, GlobalOptions } from '../../cli/options.ts'
import type { SelectionOptions } from '../../cli/selection/flags.ts'
import { choices } from '../../cli/values.ts'
import type { Operation } from '../../stream/operations/operation.ts'

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

/** `cancel`, `abort`, `retry`: what differs between them. */
export interface OnStreams extends Omit<Description, 'kind' | 'formats' | 'effect'> {
  readonly verb: 'cancel' | 'abort' | 'retry'
  /** What it does, for the question. */
  readonly does: string
  /** What was done, for the line that says so. */
  readonly word: string
  /** Help of `-e`. */
  readonly eventHelp: string
  /** The operation on one event or, without one, on the stream as a whole. */
  readonly operation: (event: { readonly event?: string }, options: OnStreamsOptions) => Operation
}

/** What became of one stream of a batch, in the words that scripts compare. */
export const OUTCOME_WORDS = ['done', 'already', 'refused', 'busy', 'changed', 'failed', 'unknown'] as const

export type OutcomeWord = (typeof OUTCOME_WORDS)[number]

/** Words joined by commas. */
export const outcomeWords = choices('--only', OUTCOME_WORDS)

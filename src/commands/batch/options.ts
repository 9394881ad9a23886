import { type Command, Option } from 'commander'
import type { Description } from '../../cli/command.ts'
import type { ChangeFlags, GlobalOptions } from '../../cli/options.ts'
import { type SelectionOptions, selectionFlags } from '../../cli/selection/flags.ts'
import { atOnce, choices, count, nonEmpty } from '../../cli/values.ts'
import type { Operation } from '../../stream/operations/operation.ts'

/** Arguments and flags of the commands that do one thing to streams, or to events of them. */
export interface BatchCommandOptions extends GlobalOptions, ChangeFlags, SelectionOptions {
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
  /** Of `retry`: also what was canceled on request. */
  readonly reopenCanceled?: boolean
  /** Of `rm`: open streams too. */
  readonly force?: boolean
  /** Of `rm`: blobs whose names no stream can have. */
  readonly blob?: readonly string[]
}

/** The same once it is known who does it. */
export interface SignedOptions extends BatchCommandOptions {
  readonly by: string
}

/** What became of one target, in the words that scripts compare. */
export const OUTCOME_WORDS = ['done', 'already', 'refused', 'busy', 'changed', 'failed', 'unknown'] as const

export type OutcomeWord = (typeof OUTCOME_WORDS)[number]

/** A command that makes one transaction of each stream, or of each event of it: all that differs between such commands. */
export interface TransactCommand extends Omit<Description, 'kind' | 'formats' | 'effect'> {
  readonly name: string
  /** `cancels`: for the question. */
  readonly thirdPerson: string
  /** `canceled`: for the line that says what was done. */
  readonly pastParticiple: string
  /** Help of `-e`. */
  readonly eventHelp: string
  readonly leavesOut: LeavesOut
  /** The operation on one event or, without one, on the stream as a whole. */
  readonly operation: (event: { readonly event?: string }, options: BatchCommandOptions) => Operation
}

/** Which targets a filter or a list does not mean, and why, for the count of them. */
export interface LeavesOut {
  readonly test: (state: TargetState) => boolean
  readonly because: string
}

/** The state of a target when it is inspected. */
export interface TargetState {
  readonly status: string
  /** It has a final status, and nothing below it is open. */
  readonly isEnded: boolean
  /** It, or something below it, was aborted or canceled. */
  readonly hasFailed: boolean
  /** How many open events there are below it. */
  readonly openBelow: number
}

export const ALREADY_FINAL: LeavesOut = { test: ({ isEnded }) => isEnded, because: 'already final' }

const SEVERAL = 'Several streams:'

/** Adds selections, and the flags for changing many streams: preview, confirmation, repeating. */
export function batchFlags(command: Command): void {
  selectionFlags(command)
  const options = [
    new Option('--skip-missing', 'go on with the others where one of several is missing'),
    new Option('--dry-run', 'show what would be changed, change nothing'),
    new Option('--yes', 'do not ask; from 50 streams on also --expect'),
    new Option('--expect <n>', 'only if it is exactly so many streams').argParser(count('--expect', 0)),
    new Option('--concurrency <n>', 'how many at a time, 1 to 64 (default: 8, 32 in the embedded store)').argParser(
      atOnce,
    ),
    new Option('--rerun <file>', 'repeat what the batch of this run file did not do').argParser(nonEmpty('--rerun')),
    new Option('--only <outcome>', 'with --rerun: what was not begun and these outcomes; joined by commas').argParser(
      choices('--only', OUTCOME_WORDS),
    ),
  ]
  for (const option of options) command.addOption(option.helpGroup(SEVERAL))
}

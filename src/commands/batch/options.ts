import { type Command, Option } from 'commander'
import type { Description } from '../../cli/command.ts'
import type { ChangeFlags, GlobalOptions } from '../../cli/options.ts'
import { type SelectionOptions, selectionFlags } from '../../cli/selection/flags.ts'
import { choices, concurrency, count, nonEmpty } from '../../cli/values.ts'
import type { Operation } from '../../stream/operations/operation.ts'

/** Arguments and flags of the batch commands. */
export interface BatchCommandOptions extends GlobalOptions, ChangeFlags, SelectionOptions {
  readonly event?: readonly string[]
  readonly skipMissing?: boolean
  readonly dryRun?: boolean
  readonly yes?: boolean
  /** Expected number of streams. */
  readonly expect?: number
  /** Number of streams changed at a time. */
  readonly concurrency?: number
  /** A run file; does the rest of its run. */
  readonly rerun?: string
  /** Outcomes in the run file to repeat. */
  readonly only?: readonly OutcomeWord[]
  /** `rm`: also open streams. */
  readonly force?: boolean
  /** `rm`: blobs whose names no stream can have. */
  readonly blob?: readonly string[]
}

/** The options with a known actor. */
export interface SignedOptions extends BatchCommandOptions {
  readonly by: string
}

/** The outcomes of a target. Scripts compare these words. */
export const OUTCOME_WORDS = ['done', 'already', 'refused', 'busy', 'changed', 'failed', 'unknown'] as const

export type OutcomeWord = (typeof OUTCOME_WORDS)[number]

/** A command that makes one transaction in each target: the differences between such commands. */
export interface TransactCommand extends Omit<Description, 'kind' | 'formats' | 'effect'> {
  readonly name: string
  /** For the question: `cancels`. */
  readonly thirdPerson: string
  /** For the output: `canceled`. */
  readonly pastParticiple: string
  /** Help of `-e`. */
  readonly eventHelp: string
  readonly leavesOut: LeavesOut
  /** The operation on one event or, without one, on the stream as a whole. */
  readonly operation: (event: { readonly event?: string }, options: BatchCommandOptions) => Operation
}

/** Which targets of a filter or list are left out, and why. */
export interface LeavesOut {
  readonly test: (state: TargetState) => boolean
  readonly because: string
}

/** The state of a target when it is inspected. */
export interface TargetState {
  readonly status: string
  /** It has a final status, and nothing below it is open. */
  readonly isEnded: boolean
  /** It, or an event below it, was aborted or canceled. */
  readonly hasFailed: boolean
  /** Number of open events below it. */
  readonly openBelow: number
}

export const ALREADY_FINAL: LeavesOut = { test: ({ isEnded }) => isEnded, because: 'already final' }

const BATCH = 'Batch flags:'

/** Adds the flags of selections, and those for previewing, confirming and resuming a batch. */
export function batchFlags(command: Command): void {
  selectionFlags(command)
  const options = [
    new Option('--skip-missing', 'skip streams that do not exist'),
    new Option('--dry-run', 'show what would be changed, change nothing'),
    new Option('--yes', 'do not ask; from 50 streams --expect is required too'),
    new Option('--expect <n>', 'proceed only if exactly N streams are selected').argParser(count('--expect', 0)),
    new Option('--concurrency <n>', 'streams at a time, 1 to 64 (default: 8, 32 in the embedded store)').argParser(
      concurrency,
    ),
    new Option('--rerun <file>', 'do the rest of the batch of this run file').argParser(nonEmpty('--rerun')),
    new Option(
      '--only <outcome>',
      'with --rerun: only streams not started or with these outcomes; separated by commas',
    ).argParser(choices('--only', OUTCOME_WORDS)),
  ]
  for (const option of options) command.addOption(option.helpGroup(BATCH))
}

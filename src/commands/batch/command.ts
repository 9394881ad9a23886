import { type Command, Option } from 'commander'
import { act, type Description, describe, parsed, type Run } from '../../cli/command.ts'
import { everyChange } from '../../cli/options.ts'
import { UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { selectionFlags } from '../../cli/selection/flags.ts'
import { choices, concurrency, count, eventIds, nonEmpty, streamNamesBesideEvents } from '../../cli/values.ts'
import type { ChangeResult } from '../../stream/operations/operation.ts'
import { type BatchCommandOptions, OUTCOME_WORDS, type TransactCommand } from './options.ts'

/** Part of the help of every batch command. */
export const RUN_FILES =
  'A batch leaves a run file in $XDG_STATE_HOME/leasectl/runs (default ~/.local/state); runs ls lists them.'

export const EFFECT = `Writes: takes the lease of each stream for one change. ${RUN_FILES}`

/** Registers a command that makes one transaction in each target. */
export function registerTransactCommand(
  parent: Command,
  runtime: Runtime,
  what: TransactCommand,
  go: Run<BatchCommandOptions> = runTransactions(what),
  ownFlags: (command: Command) => void = () => {},
): Command {
  const command = parent.command(what.name).argument('[STREAM...]', 'names of streams', streamNamesBesideEvents)
  if (what.eventHelp !== undefined) command.option('-e, --event <id>', what.eventHelp, eventIds)
  ownFlags(command)
  registerBatch(command, runtime, { ...what, effect: EFFECT }, go)
  return command
}

/** Runs such a command. */
export function runTransactions(what: TransactCommand): Run<BatchCommandOptions> {
  return async (options, runtime) => {
    const [{ runBatchCommand }, { transactAction }] = await Promise.all([import('./batch.ts'), import('./action.ts')])
    return runBatchCommand(transactAction(what), options, runtime)
  }
}

/** Refuses to run without `-m`. The run file of `--rerun` has the reason of its run. */
export function withReason(
  { name, whyReason }: TransactCommand,
  go: Run<BatchCommandOptions>,
): Run<BatchCommandOptions> {
  return (options, runtime) => {
    if (options.reason !== undefined || options.rerun !== undefined) return go(options, runtime)
    throw new UsageError(`${name} needs a reason`, { hint: whyReason ?? 'Give it with -m.' })
  }
}

/** Completes a batch command: flags, description, action. */
export function registerBatch(
  command: Command,
  runtime: Runtime,
  description: Omit<Description, 'kind' | 'formats'>,
  go: Run<BatchCommandOptions>,
  changeFlags: (command: Command) => Command = everyChange,
): void {
  batchFlags(command)
  changeFlags(command)
  describe(command, runtime, { ...description, kind: 'writes', formats: ['text', 'json', 'ndjson'] })
  act(command, runtime, 'writes', own => parsed<BatchCommandOptions>(own, ['names']), go)
}

/** Registers a command that can end whole streams: with `--no-compensate` it does not undo what they did. */
export function registerEnd(
  parent: Command,
  runtime: Runtime,
  what: TransactCommand,
  go: Run<BatchCommandOptions> = runTransactions(what),
): void {
  registerTransactCommand(
    parent,
    runtime,
    what,
    (options, at) => go(withoutDefault(options), at),
    command => command.option('--no-compensate', 'end a stream at once, without undoing what it did'),
  )
}

/** The parser gives a flag `--no-…` its default under the name without `no`. */
function withoutDefault({ compensate, ...options }: BatchCommandOptions & { readonly compensate?: boolean }) {
  return compensate === false ? { ...options, noCompensate: true } : options
}

/** Whether the stream is to be ended without undoing what it did. */
export function compensationOf({ noCompensate }: BatchCommandOptions): { readonly noCompensate?: true } {
  return noCompensate === true ? { noCompensate } : {}
}

/** A stream that compensates does not end yet. */
export function undoing({ added }: ChangeResult): { readonly words?: string } {
  return added.length === 0 ? {} : { words: 'begins to undo what it did' }
}

/** The reason is also the message of the target. */
export function messageOf({ reason }: BatchCommandOptions): { readonly msg?: string } {
  return reason === undefined ? {} : { msg: reason }
}

const BATCH = 'Batch flags:'

/** Adds the flags of selections, and those for previewing, confirming and resuming a batch. */
function batchFlags(command: Command): void {
  selectionFlags(command)
  const options = [
    new Option('--skip-missing', 'skip streams that do not exist'),
    new Option('--dry-run', 'show what would be changed, change nothing'),
    new Option('--yes', 'do not ask; from 50 streams --expect is required too'),
    new Option('--expect <n>', 'proceed only if exactly N streams are selected').argParser(count('--expect', 0)),
    new Option('--concurrency <n>', 'streams at a time, 1 to 64 (default: 8, 32 in the embedded store)').argParser(
      concurrency,
    ),
    new Option('--rate <n>', 'at most N streams in a second (default: no limit)').argParser(count('--rate', 1)),
    new Option(
      '--rerun <file>',
      'do the rest of the batch of this run file; last: the latest run of this command',
    ).argParser(nonEmpty('--rerun')),
    new Option(
      '--only <outcome>',
      'with --rerun: only streams not started or with these outcomes; separated by commas',
    ).argParser(choices('--only', OUTCOME_WORDS)),
  ]
  for (const option of options) command.addOption(option.helpGroup(BATCH))
}

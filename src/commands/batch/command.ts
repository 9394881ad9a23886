import type { Command } from 'commander'
import { act, type Description, describe, parsed, type Run } from '../../cli/command.ts'
import { everyChange } from '../../cli/options.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { eventIds, streamNamesBesideEvents } from '../../cli/values.ts'
import { type BatchCommandOptions, batchFlags, type TransactCommand } from './options.ts'

/** Stands in the help of each of these commands. */
export const RUN_FILES =
  'A batch leaves a run file in $XDG_STATE_HOME/leasectl/runs (default ~/.local/state); it is yours to delete.'

const EFFECT = `Writes: takes the lease of each stream for one change. ${RUN_FILES}`

/** Registers such a command. */
export function registerTransactCommand(
  parent: Command,
  runtime: Runtime,
  what: TransactCommand,
  go: Run<BatchCommandOptions> = runTransactions(what),
): Command {
  const command = parent
    .command(what.name)
    .argument('[STREAM...]', 'names of streams', streamNamesBesideEvents)
    .option('-e, --event <id>', what.eventHelp, eventIds)
  registerBatch(command, runtime, { ...what, effect: EFFECT }, go)
  return command
}

/** Runs such a command. */
export function runTransactions(what: TransactCommand): Run<BatchCommandOptions> {
  return async (options, runtime) => {
    const [{ runBatchCommand }, { transactAction }] = await Promise.all([
      import('./batch.ts'),
      import('./transact-action.ts'),
    ])
    return runBatchCommand(transactAction(what), options, runtime)
  }
}

/** Adds the flags of every batch to a command, its description, and what happens when it was parsed. */
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

/** The reason is the message of the target too. */
export function messageOf({ reason }: BatchCommandOptions): { readonly msg?: string } {
  return reason === undefined ? {} : { msg: reason }
}

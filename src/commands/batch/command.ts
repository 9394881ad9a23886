import type { Command } from 'commander'
import { act, type Description, describe, parsed, type Run } from '../../cli/command.ts'
import { everyChange } from '../../cli/options.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { eventIds, streamNamesBesideEvents } from '../../cli/values.ts'
import { type BatchCommandOptions, batchFlags, type TransactCommand } from './options.ts'

/** Part of the help of every batch command. */
export const RUN_FILES =
  'A batch leaves a run file in $XDG_STATE_HOME/leasectl/runs (default ~/.local/state); delete it at will.'

const EFFECT = `Writes: takes the lease of each stream for one change. ${RUN_FILES}`

/** Registers a command that makes one transaction in each target. */
export function registerTransactCommand(
  parent: Command,
  runtime: Runtime,
  what: TransactCommand,
  go: Run<BatchCommandOptions> = runTransactions(what),
): void {
  const command = parent
    .command(what.name)
    .argument('[STREAM...]', 'names of streams', streamNamesBesideEvents)
    .option('-e, --event <id>', what.eventHelp, eventIds)
  registerBatch(command, runtime, { ...what, effect: EFFECT }, go)
}

function runTransactions(what: TransactCommand): Run<BatchCommandOptions> {
  return async (options, runtime) => {
    const [{ runBatchCommand }, { transactAction }] = await Promise.all([
      import('./batch.ts'),
      import('./transact-action.ts'),
    ])
    return runBatchCommand(transactAction(what), options, runtime)
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

/** The reason is also the message of the target. */
export function messageOf({ reason }: BatchCommandOptions): { readonly msg?: string } {
  return reason === undefined ? {} : { msg: reason }
}

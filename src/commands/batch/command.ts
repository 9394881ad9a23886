import type { Command } from 'commander'
import { eventIds, streamNamesBesideEvents } from '../../cli/arguments.ts'
import { act, type Description, describe, parsed, type Run } from '../../cli/command.ts'
import { everyChange } from '../../cli/options.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { OnStreams } from './description.ts'
import { batchFlags, RUN_FILES } from './flags.ts'
import type { OnStreamsOptions } from './options.ts'

const FORMATS = ['text', 'json', 'ndjson'] as const
const EFFECT = `Writes: takes the lease of each stream for one change. ${RUN_FILES}`

/** Registers such a command. */
export function registerOnStreams(
  parent: Command,
  runtime: Runtime,
  what: OnStreams,
  go: Run<OnStreamsOptions> = runOnStreams(what),
): void {
  const command = parent
    .command(what.verb)
    .argument('[STREAM...]', 'names of streams', streamNamesBesideEvents)
    .option('-e, --event <id>', what.eventHelp, eventIds)
  batchFlags(command)
  onStreams(command, runtime, { ...what, effect: EFFECT }, go)
}

/** What such a command takes besides, and what happens when it was parsed. */
export function onStreams(
  command: Command,
  runtime: Runtime,
  what: Omit<Description, 'kind' | 'formats'>,
  go: Run<OnStreamsOptions>,
  flags: (command: Command) => Command = everyChange,
): void {
  flags(command)
  describe(command, runtime, { ...what, kind: 'writes', formats: FORMATS })
  act(command, runtime, 'writes', own => parsed<OnStreamsOptions>(own, ['names']), go)
}

function runOnStreams(what: OnStreams): Run<OnStreamsOptions> {
  return async (options, runtime) => {
    const [{ changeBatch }, { transactVerb }] = await Promise.all([
      import('./batch.ts'),
      import('./transact-action.ts'),
    ])
    return changeBatch(transactVerb(what), options, runtime)
  }
}

/** The reason is the message of the target too. */
export function messageOf({ reason }: OnStreamsOptions): { readonly msg?: string } {
  return reason === undefined ? {} : { msg: reason }
}

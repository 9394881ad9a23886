import { type Command, Option } from 'commander'
import { act, type Description, describe, parsed, type Run } from '../../cli/command.ts'
import { everyChange } from '../../cli/options.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { selectionFlags } from '../../cli/selection/flags.ts'
import { atOnce, count, eventIds, nonEmpty, streamNamesBesideEvents } from '../../cli/values.ts'
import { type OnStreams, type OnStreamsOptions, outcomeWords } from './options.ts'

const FORMATS = ['text', 'json', 'ndjson'] as const

/** Said of each of these commands in its help. */
export const RUN_FILES =
  'A batch leaves a run file in $XDG_STATE_HOME/leasectl/runs (default ~/.local/state); it is yours to delete.'

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

const SEVERAL = 'Several streams:'

/** Adds selections and what goes with changing many streams: preview, confirmation, repeating. */
export function batchFlags(command: Command): Command {
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
      outcomeWords,
    ),
  ]
  for (const option of options) command.addOption(option.helpGroup(SEVERAL))
  return command
}

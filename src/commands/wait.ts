import { type Command, Option } from 'commander'
import { parsed, type Run, reads } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { selectionFlags } from '../cli/selection/flags.ts'
import { duration, streamNames } from '../cli/values.ts'
import { type WaitCommandOptions, waitTarget } from './wait/options.ts'

const NOTES = `
What is waited for (--for):
  success           completed without errors (default)
  completed         completed, with or without errors
  done              ended, whichever way
  canceled aborted  ended so
  event=ID:STATUS   an event has this status: event=01.02.00:completed; done is any final one. init and inprocess pass:
                    they are met only if they are seen at a look.

A stream counts as soon as it has ended once, even if it is reopened later. One that ended otherwise, or that was removed,
is told at once; with exit 8 the command ends when all have ended, with --fail-fast at the first. --any ends with 0 at the
first that is as asked for. Which streams a filter means is settled at the beginning: those that match then.
The first look is always brought to its end, however short --within is. An outage after it is told and waited out; a
document that cannot be read is told and waited for, as its writer may mend it.

Exit: 0 all as asked for, 8 some ended otherwise, 124 --within passed and some are still open, 3 a name does not exist or
nothing matches, 9 the store does not answer at the beginning, 130 interrupted.
`

export function register(parent: Command, runtime: Runtime, go: Run<WaitCommandOptions> = run): void {
  const command = parent
    .command('wait')
    .argument('[STREAM...]', 'names of streams', streamNames)
    .addOption(
      new Option(
        '--for <what>',
        'success, completed, done, canceled, aborted, or event=ID:STATUS (default: success)',
      ).argParser(waitTarget),
    )
    .option('--any', 'one of the streams is enough')
    .option('--fail-fast', 'end at the first that ended otherwise')
    .option('--may-appear', 'wait for streams that do not exist yet, or for a filter to match')
    .addOption(
      new Option(
        '--within <duration>',
        'give up after so long: exit 124; 0s looks once; --timeout is the same',
      ).argParser(duration('--within', { zero: true })),
    )
    .addOption(
      new Option('--timeout <duration>')
        .argParser(duration('--timeout', { zero: true }))
        .conflicts('within')
        .hideHelp(),
    )
    .addOption(
      new Option('--interval <duration>', 'how often to look (default: 1s, on Azure 2s)').argParser(
        duration('--interval'),
      ),
    )
  selectionFlags(command)
  command.addHelpText('after', NOTES)
  const description = {
    summary: 'waits until streams have ended, or an event has a status',
    examples: [
      ['wait orders/4711 --within 10m', 'until it is completed without errors'],
      ["wait --match 'import/**' --for done --within 2h", 'until all that match now have ended, whichever way'],
      ['wait orders/4711 --for event=01.02.00:completed', 'until one event is completed'],
      ['wait new/1 new/2 --may-appear --any', 'until one of two that others will create is completed'],
    ],
    formats: ['text', 'json', 'ndjson'],
  } as const
  reads(command, runtime, description, parse, go)
}

function parse(command: Command): WaitCommandOptions {
  const { timeout, ...options } = parsed<WaitCommandOptions & { timeout?: number }>(command, ['names'])
  return timeout === undefined ? options : { ...options, within: timeout }
}

const run: Run<WaitCommandOptions> = async (...given) => (await import('./wait/run.ts')).waitForStreams(...given)

import { type Command, Option } from 'commander'
import { parsed, type Run, reads } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { selectionFlags } from '../cli/selection/flags.ts'
import { duration, streamNames } from '../cli/values.ts'
import { type WaitCommandOptions, waitTarget } from './wait/options.ts'

const NOTES = `
Conditions (--for):
  success           completed without errors (default)
  completed         completed, with or without errors
  done              ended, with any status
  canceled aborted  ended with this status
  event=ID:STATUS   an event has this status: event=01.02.00:completed; done is any final status. init and inprocess are
                    transient: they count only if a poll finds them.

A stream counts as soon as it has ended once, even if it is reopened later. A stream that ended differently, or was removed,
is reported at once; the command then exits with 8 when all have ended, with --fail-fast at the first. --any exits with 0 at
the first stream that meets the condition. A filter is evaluated once, at the start: later matches do not count.
The first poll always completes, however short --within is. A later outage is reported and waited out. An unreadable
document is reported and waited for, since its writer may repair it.

Exit: 0 all meet the condition, 8 some ended differently, 124 --within passed with streams still open, 3 a stream does not
exist or nothing matches, 9 the store does not answer at the start, 130 interrupted.
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
    .option('--any', 'stop when one of the streams meets the condition')
    .option('--fail-fast', 'stop at the first stream that ended differently')
    .option('--may-appear', 'also wait for streams that do not exist yet, or for a filter to match')
    .addOption(
      new Option(
        '--within <duration>',
        'give up after this time: exit 124; 0s polls once; --timeout is the same',
      ).argParser(duration('--within', { zero: true })),
    )
    .addOption(
      new Option('--timeout <duration>')
        .argParser(duration('--timeout', { zero: true }))
        .conflicts('within')
        .hideHelp(),
    )
    .addOption(
      new Option('--interval <duration>', 'time between polls (default: 1s, on Azure 2s)').argParser(
        duration('--interval'),
      ),
    )
  selectionFlags(command)
  command.addHelpText('after', NOTES)
  const description = {
    summary: 'wait until streams have ended, or an event has a status',
    examples: [
      ['wait orders/4711 --within 10m', 'until it is completed without errors'],
      ["wait --match 'import/**' --for done --within 2h", 'until all that match now have ended, with any status'],
      ['wait orders/4711 --for event=01.02.00:completed', 'until one event is completed'],
      ['wait new/1 new/2 --may-appear --any', 'until one of two future streams is completed'],
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

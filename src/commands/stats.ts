import { type Command, Option } from 'commander'
import { type Run, reads } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { selectionFlags } from '../cli/selection/flags.ts'
import { choice, count, streamNames } from '../cli/values.ts'
import type { StatsOptions } from './stats/options.ts'

const NOTES = `
One line is one step: all events with the same name. Each attempt counts: an event that failed, was retried and completed is
one event with two attempts, one of them failed. Open events are counted as open and have no durations.
  WAITED   time in which the event was ready and unclaimed ("ready" in show -o timeline)
  RAN      time in which workers held it, from its start to the end of its own work, without waiting for its successors
  TOOK     time from its creation, or its retry, to its end: for a root event the duration of the stream
  bars     histogram of RAN: short runs on the left, each column longer than the one before by the same factor
Durations are exact to 1 %, the maximum is exact. Unrecorded time, before leasectl first changed a stream of another
program, is left out. Beyond 500 steps the rest is counted together as "others".
An unreadable stream is reported and left out: exit 7.
`

export function register(parent: Command, runtime: Runtime, go: Run<StatsOptions> = run): void {
  const command = parent
    .command('stats')
    .argument('[STREAM...]', 'names of streams; without names, --since, a filter or --all is required', streamNames)
    .addOption(
      new Option('--group-by <what>', 'group by event name or topic (default: name)').argParser(
        choice('--group-by', ['name', 'topic']),
      ),
    )
    .addOption(
      new Option(
        '--sort <field>',
        'sort by count, failures or p95 (of RAN), largest first, or by name (default: count)',
      ).argParser(choice('--sort', ['count', 'failures', 'p95', 'name'])),
    )
    .addOption(new Option('--limit <n>', 'at most N steps (default: all)').argParser(count('--limit', 1)))
  selectionFlags(command, 'only events that ended since this time: 30m, 14:00, a date and time; leaves out open events')
  command.addHelpText('after', NOTES)
  const description = {
    summary: 'show statistics per step: count, failures, waiting and running times',
    examples: [
      ['stats --since 1h', 'events that ended in the last hour'],
      ["stats --match 'orders/**' --sort p95", 'slowest steps first'],
      ['stats orders/4711', 'one stream'],
      ['stats --all --sort failures -o json', 'the whole store, for scripts'],
    ],
    formats: ['table', 'json', 'ndjson', 'csv'],
  } as const
  reads(command, runtime, description, ['names'], go)
}

const run: Run<StatsOptions> = async (...given) => (await import('./stats/run.ts')).showStats(...given)

import { type Command, Option } from 'commander'
import { type Run, reads } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { selectionFlags } from '../cli/selection/flags.ts'
import { choice, count, streamNames } from '../cli/values.ts'
import type { StatsOptions } from './stats/options.ts'

const NOTES = `
One line is one step: all events of the same name. Each try counts: an event that failed, was retried and completed is one
event and two tries, one of them failed. What has not ended is counted as open and in no length.
  WAITED   how long it was ready and no worker had it ("ready" in show -o timeline)
  RAN      how long workers had it, from start until its own work ended; waiting for its successors is no work
  TOOK     from when it was created, or reopened, until it ended: of a root how long its stream took
  the bars how often it ran how long: short runs on the left, each column as many times longer as the one before
Lengths are exact to 1 %, the longest (max) is exact. Time that nobody recorded, before a stream of other programs was
first changed by leasectl, is left out. Of more than 500 steps the rest is counted together as "others".
A stream that cannot be read is told and left out: exit 7.
`

export function register(parent: Command, runtime: Runtime, go: Run<StatsOptions> = run): void {
  const command = parent
    .command('stats')
    .argument('[STREAM...]', 'names of streams; without one --since, a filter or --all is needed', streamNames)
    .addOption(
      new Option('--group-by <what>', 'name of the events, or their topic (default: name)').argParser(
        choice('--group-by', ['name', 'topic']),
      ),
    )
    .addOption(
      new Option(
        '--sort <field>',
        'by count, failures, p95 (of RAN), the largest first, or name (default: count)',
      ).argParser(choice('--sort', ['count', 'failures', 'p95', 'name'])),
    )
    .addOption(new Option('--limit <n>', 'at most so many steps (default: all)').argParser(count('--limit', 1)))
  selectionFlags(command, 'only what ended since: 30m, 14:00, a date and time; open ones do not count then')
  command.addHelpText('after', NOTES)
  const description = {
    summary: 'numbers per step: how many, how many failed, how long they waited and ran',
    examples: [
      ['stats --since 1h', 'what ended in the last hour'],
      ["stats --match 'orders/**' --sort p95", 'the slowest steps first'],
      ['stats orders/4711', 'of one stream'],
      ['stats --all --sort failures -o json', 'of the whole store, for scripts'],
    ],
    formats: ['table', 'json', 'ndjson'],
  } as const
  reads(command, runtime, description, ['names'], go)
}

const run: Run<StatsOptions> = async (...given) => (await import('./stats/run.ts')).showStats(...given)

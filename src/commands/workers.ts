import { type Command, Option } from 'commander'
import { type Run, reads } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { filterFlags } from '../cli/selection/flags.ts'
import { duration } from '../cli/values.ts'
import type { WorkersOptions } from './workers/options.ts'

const NOTES = `
Each event that can be worked on is counted once, under its worker and under its step, which is its name:
  READY      no worker has claimed it; OLDEST is the longest time that a stream has waited for the step
  RUNNING    its claim has not ended
  ABANDONED  its claim has ended: the worker is silent, and another one takes over
  SINCE      the earliest claim; LAST SEEN is the latest sign of life, TRY the highest number of an attempt
--owner, --waiting-on, --event-state and --abandoned also select among the events of a stream.
`

export function register(parent: Command, runtime: Runtime, go: Run<WorkersOptions> = run): void {
  const command = parent
    .command('workers')
    .addOption(new Option('--events', 'list each claimed event, the earliest claim first'))
    .addOption(new Option('-w, --watch', 'refresh in place, on a terminal'))
    .addOption(
      new Option('--interval <duration>', 'with -w: time between refreshes (default: 1s, on Azure 2s)').argParser(
        duration('--interval'),
      ),
    )
  filterFlags(command)
  command.addHelpText('after', NOTES)
  const description = {
    summary: 'show which worker has claimed what, and how many events of each step are ready, running, abandoned',
    examples: [
      ['workers', 'all workers and steps'],
      ['workers --abandoned --events', 'what silent workers have left, the oldest first'],
      ['workers --owner pay@aks-9 --events -o json', 'the events of one worker'],
    ],
    formats: ['table', 'json', 'ndjson', 'csv'],
  } as const
  reads(command, runtime, description, [], go)
}

const run: Run<WorkersOptions> = async (...given) => (await import('./workers/run.ts')).showWorkers(...given)

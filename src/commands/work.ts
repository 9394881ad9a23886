import { type Command, Option } from 'commander'
import { act, describe, parsed, type Run } from '../cli/command.ts'
import { everyWorkerChange } from '../cli/options.ts'
import { type PartitionFlags, partitionFlags, partitionIn } from '../cli/partition.ts'
import { UsageError } from '../cli/problem.ts'
import type { Runtime } from '../cli/runtime.ts'
import { concurrency, duration, names, pattern, storedText } from '../cli/values.ts'
import { defined } from '../util/defined.ts'
import { attempts, pauses } from './event/failure-flags.ts'
import { programFlags, programIn } from './exec.ts'
import type { WorkCommandOptions } from './work/options.ts'

const NOTES = `
It finds ready events with these names, in all streams or those of --match, claims one at a time and runs the command for it
as exec does: same variables and files, claim and heartbeat (exec --help). Streams take turns. An event of a dead worker
is taken over when its claim expires, as the next attempt, counted in LEASECTL_ATTEMPT. A command that exits with 75
(EX_TEMPFAIL) has failed for a passing reason: its event is tried again after a pause (--backoff). After --max-attempts the
event fails, so that nothing waits for it indefinitely; an event with --retries of its own has those. Any number of workers, on
any machines, can work on the same names.

The command has no standard input, or its event with --stdin json; pass other data in the environment. Its stdout and stderr
pass through. The outcome of each event goes to stderr; with -o ndjson one line each goes to stdout, and the stdout of the
command goes to stderr.

SIGTERM and SIGINT drain: no more events are claimed, running commands finish. A second signal ends the commands at once; their
events are taken over when the claims expire. Under systemd, use KillMode=mixed, so that only leasectl gets the signal, and a
TimeoutStopSec as long as the command may take.

With --partition 3/8 it works only on the streams whose names hash to that part, so that one process works on a stream at all
times, with what it remembers of it. Every part needs a worker. Claims protect events in any case.

With --defer 15s it takes only events that have been ready, or whose claim has been over, for 15 seconds, and those of a timer
as long after it: run it in a second region, and what it takes is what the workers of the first leave. To --until-empty other
events are not there.

--until-empty waits for streams that are leased briefly, but not for events claimed by other workers, and tries each event once.

Exit: 0 drained; --until-empty 0, or 7 if an event failed, is to be tried again, was lost, handed back or given up, or if something could not be read,
claimed or obtained because it is leased until released, 130 or 143 if drained earlier; --once the code of the command as of
exec, 125 for failures of leasectl, 0 if there was nothing to do. 126 the command is not executable, 127 not found.
`

export function register(parent: Command, runtime: Runtime, go: Run<WorkCommandOptions> = run): void {
  const command = parent
    .command('work')
    .usage('--name NAME [options] -- COMMAND…')
    .argument('[COMMAND...]', 'the command to run for each event, after --')
    .addOption(
      new Option('--name <names>', 'names of the events to work on: A,B; can be repeated (required)').argParser(
        names('--name'),
      ),
    )
    .addOption(new Option('--topic <text>', 'only events with this topic').argParser(storedText('--topic')))
    .addOption(
      new Option(
        '--match <glob>',
        'glob over the whole name: * stops at a /, ** does not; also ? [a-z] [!a-z] {a,b}',
      ).argParser(pattern('--match')),
    )
  partitionFlags(command)
    .addOption(
      new Option(
        '--defer <duration>',
        'only events that have been ready for so long: the workers of another region come first',
      ).argParser(duration('--defer')),
    )
    .addOption(new Option('--concurrency <n>', 'events at a time (default: 1)').argParser(concurrency))
    .addOption(
      new Option(
        '--max-attempts <n>',
        'fail an event after N attempts instead of trying it again (default: 5)',
      ).argParser(attempts('--max-attempts')),
    )
    .addOption(
      new Option(
        '--backoff <pauses>',
        'pauses after transient failures, the first and the longest: 2s..1m (default: 1s..1m)',
      ).argParser(pauses('--backoff')),
    )
    .option('--once', 'work on one event and exit')
    .option('--until-empty', 'exit when nothing is left to do')
    .addOption(
      new Option(
        '--max-idle <duration>',
        'longest pause between polls when idle (default: 2s, on Azure 10s)',
      ).argParser(duration('--max-idle')),
    )
  programFlags(command)
  command.addHelpText('after', NOTES)
  everyWorkerChange(command)
  describe(command, runtime, {
    summary: 'run a worker: find events by name, claim them, run a command for each',
    examples: [
      ['work --name SearchStart -- ./search.sh', 'run until stopped'],
      [
        'work --name Resize --concurrency 4 --next Upload -- python3 resize.py',
        'four at a time; the next step is Upload',
      ],
      ["work --name Pay --match 'orders/**' --topic eu -- ./pay", 'only these streams, only this topic'],
      ['work --name Pay --partition-from-hostname --partition-count 8 -- ./pay', 'in pod-3: the fourth of eight parts'],
      ['work --name Pay --defer 15s -- ./pay', 'in a second region: what the first one leaves for 15 seconds'],
      ['work --name Pay --until-empty -o ndjson -- ./pay', 'for cron: the outcome of each event'],
      ['work --name Pay --once -- ./pay', 'one event; exits with the code of the command'],
    ],
    formats: ['text', 'ndjson'],
    kind: 'writes',
    effect: 'Writes: each claim, heartbeat and result changes a stream.',
  })
  act(command, runtime, 'writes', () => optionsIn(command, runtime), go)
}

function optionsIn(command: Command, runtime: Runtime): WorkCommandOptions {
  const {
    partitionFromHostname,
    partitionCount,
    partition: given,
    ...options
  } = parsed<WorkCommandOptions & PartitionFlags>(command, [])
  const partition = partitionIn(defined({ partition: given, partitionFromHostname, partitionCount }), runtime)
  const usage = 'work --name NAME -- COMMAND …'
  if (options.name === undefined) throw new UsageError('--name is missing: the events to work on', { hint: usage })
  if (options.once && options.untilEmpty) {
    throw new UsageError('--once and --until-empty do not go together', { hint: 'Leave one of them out.' })
  }
  if (options.once && options.concurrency !== undefined) {
    throw new UsageError('--once works on one event: it takes no --concurrency', { hint: 'Leave one of them out.' })
  }
  return { ...options, ...defined({ partition }), command: programIn(command.processedArgs[0] ?? [], runtime, usage) }
}

const run: Run<WorkCommandOptions> = async (...given) => (await import('./work/run.ts')).work(...given)

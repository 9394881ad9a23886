import { type Command, Option } from 'commander'
import { act, describe, parsed, type Run } from '../cli/command.ts'
import { everyWorkerChange } from '../cli/options.ts'
import { UsageError } from '../cli/problem.ts'
import type { Runtime } from '../cli/runtime.ts'
import { atOnce, count, duration, names, pattern, storedText } from '../cli/values.ts'
import { programFlags, programIn } from './exec.ts'
import type { WorkCommandOptions } from './work/options.ts'

const NOTES = `
It looks for events of these names that are ready, in all streams or those of --match, claims one at a time and runs the
command for it as exec does: the same variables, LEASECTL_OUTPUT, claim and heartbeat (exec --help). Streams take turns. What a
worker that died has left is taken over once its claim has run out, as the next attempt; LEASECTL_ATTEMPT tells which. After
--max-attempts it is failed, so that nothing waits for it for ever. Any number of workers, on any machine, may look for the same.

The command reads nothing, or with --stdin json its event; give it what it needs in the environment. What it writes to stdout and
stderr passes through as it comes. What becomes of each event is said on stderr; with -o ndjson on stdout, a line for each, and
the command's own stdout goes to stderr then.

SIGTERM and SIGINT drain: nothing more is claimed, what is under way goes on to its end. A second one ends the commands at once;
their events are taken over once the claims have run out. Under systemd: KillMode=mixed, so that only leasectl is told, and a
TimeoutStopSec as long as the command may take.

--until-empty waits for streams that are leased for a moment, not for events that other workers are at, and tries each event once.

Exit: 0 it was drained; --until-empty 0, or 7 if an event failed, was lost, handed back or given up, or something could not be read,
claimed or had because it is leased until released, 130 and 143 if it was drained before; --once the command's own code as of exec,
125 what leasectl could not do, 0 if there was nothing to do. 126 the command cannot be run, 127 there is none.
`

export function register(parent: Command, runtime: Runtime, go: Run<WorkCommandOptions> = run): void {
  const command = parent
    .command('work')
    .usage('--name NAME [options] -- COMMAND…')
    .argument('[COMMAND...]', 'what is run for each event, behind --')
    .addOption(
      new Option('--name <names>', 'names of the events it works on: A,B; may be repeated').argParser(names('--name')),
    )
    .addOption(new Option('--topic <text>', 'only events with this topic').argParser(storedText('--topic')))
    .addOption(
      new Option(
        '--match <glob>',
        'only streams named like this: * stays within a /, ** does not; also ? [a-z] [!a-z] {a,b}',
      ).argParser(pattern('--match')),
    )
    .addOption(new Option('--concurrency <n>', 'so many events at a time (default: 1)').argParser(atOnce))
    .addOption(
      new Option(
        '--max-attempts <n>',
        'an event that was tried so often is failed, not taken over (default: 5)',
      ).argParser(count('--max-attempts', 1)),
    )
    .option('--once', 'one event, then the end')
    .option('--until-empty', 'ends when there is nothing left to do')
    .addOption(
      new Option(
        '--max-idle <duration>',
        'the longest pause when there is nothing to do (default: 2s, on Azure 10s)',
      ).argParser(duration('--max-idle')),
    )
  programFlags(command)
  command.addHelpText('after', NOTES)
  everyWorkerChange(command)
  describe(command, runtime, {
    summary: 'a worker: finds events by name, claims them, runs a command for each',
    examples: [
      ['work --name SearchStart -- ./search.sh', 'runs until it is stopped'],
      ['work --name Resize --concurrency 4 --next Upload -- python3 resize.py', 'four at a time; then Upload'],
      ["work --name Pay --match 'orders/**' --topic eu -- ./pay", 'only these streams, only this topic'],
      ['work --name Pay --until-empty -o ndjson -- ./pay', 'for cron: what became of each event'],
      ['work --name Pay --once -- ./pay', 'one event; its exit code is that of the command'],
    ],
    formats: ['text', 'ndjson'],
    kind: 'writes',
    effect: 'Writes: claims, heartbeats and ends are changes of the streams.',
  })
  act(command, runtime, 'writes', () => optionsIn(command, runtime), go)
}

function optionsIn(command: Command, runtime: Runtime): WorkCommandOptions {
  const options = parsed<WorkCommandOptions>(command, [])
  const usage = 'work --name NAME -- COMMAND …'
  if (options.name === undefined) throw new UsageError('a name of events to work on is missing', { hint: usage })
  if (options.once && options.untilEmpty) {
    throw new UsageError('--once and --until-empty do not go together', { hint: 'Leave one of them out.' })
  }
  if (options.once && options.concurrency !== undefined) {
    throw new UsageError('--once is one event: it takes no --concurrency', { hint: 'Leave one of them out.' })
  }
  return { ...options, command: programIn(command.processedArgs[0] ?? [], runtime, usage) }
}

const run: Run<WorkCommandOptions> = async (...given) => (await import('./work/run.ts')).work(...given)

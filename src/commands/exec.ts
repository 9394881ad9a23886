import { type Command, Option } from 'commander'
import { act, describe, parsed, type Run } from '../cli/command.ts'
import { everyWorkerChange } from '../cli/options.ts'
import { UsageError } from '../cli/problem.ts'
import type { Runtime } from '../cli/runtime.ts'
import { choice, duration, eventId, streamName } from '../cli/values.ts'
import { attributeFlags, claimFlag, ownerFlag, successorFlags } from './event/flags.ts'
import type { ExecOptions } from './exec/options.ts'

const NOTES = `
The event is claimed, and kept claimed by a heartbeat at a third of --claim, or of the event's own timeout where that is
shorter, while the command runs. Ends it with 0, the event is completed, or advanced with --next or --fork; with anything else
it fails, with the last lines of stderr as its message. A command that cannot be started leaves the event as it was.

The command has in its environment: LEASECTL_STORE, LEASECTL_STREAM, LEASECTL_EVENT, LEASECTL_OWNER, LEASECTL_FENCE and
LEASECTL_BORN, so that leasectl event touch "$LEASECTL_STREAM" "$LEASECTL_EVENT" needs no flags, and may itself end the event;
LEASECTL_ATTEMPT, from 1 on; LEASECTL_ATTEMPT_KEY, which is the same whenever this attempt of this event is made again; and
LEASECTL_OUTPUT, a file to which it may append

  next=NAME   fork=NAME (again for each)   join=NAME      what follows; these take the place of --next, --fork and --join
  topic= key= tag= ref= tracking-id= timeout= on-due=     of the new events
  msg=TEXT, or msg<<END, lines of text and a line END     the event's message

What makes no sense there fails the event: nothing is guessed. More than 64 KiB makes none.

stdout and stdin are the command's own; --stdin json gives it the event to read. It runs in a session of its own. SIGINT
and SIGTERM are handed on to it and all it started, SIGHUP and SIGQUIT as SIGTERM; after --grace they are killed. If it
ends with 0 all the same the event is completed, else handed back. The same happens when the event is canceled or the
claim is lost; then nothing is reported. What it leaves behind after an end of its own goes on.

Exit: the command's own code; 128 + N if signal N ended it; 126 it cannot be run, 127 there is none; 125 leasectl could not
claim, lost the claim or could not report the end: the error has the code (help exit-codes). -o json is for errors alone.
`

export function register(parent: Command, runtime: Runtime, go: Run<ExecOptions> = run): void {
  const command = parent
    .command('exec')
    .usage('[options] STREAM ID -- COMMAND…')
    .argument('<STREAM>', 'name of the stream', streamName)
    .argument('<ID>', 'id of the event, as 01.02.00', eventId)
    .argument('[COMMAND...]', 'what is run, behind --')
    .option('--take-over', "even if a foreign worker's event has not outlived its time")
  attributeFlags(programFlags(command))
  command.addHelpText('after', NOTES)
  everyWorkerChange(command)
  describe(command, runtime, {
    summary: 'runs a command as the worker of an event: claims it, keeps it alive, reports how it ended',
    examples: [
      ['exec orders/4711 01.00 -- ./search.sh', 'its exit code is the end of the event'],
      ['exec orders/4711 01.00 --next Pay -- python3 search.py', 'done, and this comes next'],
      ['exec orders/4711 01.01 --stdin json -- jq .event.key', 'with the event to read'],
      ['exec orders/4711 01.01 --claim 10m --grace 1m -- make', 'slow to notice, slow to end'],
    ],
    formats: ['text', 'json'],
    kind: 'writes',
    effect: 'Writes: the claim, heartbeats and the end are changes of the stream.',
  })
  act(command, runtime, 'writes', () => optionsIn(command, runtime), go)
}

/** Adds the flags of whoever runs a program as a worker, without those for attributes of what follows. */
export function programFlags(command: Command): Command {
  ownerFlag(command)
    .addOption(
      new Option('--grace <duration>', 'from asking it to end to killing it (default: 10s)').argParser(
        duration('--grace', { zero: true }),
      ),
    )
    .addOption(new Option('--stdin <what>', 'json: it reads the event').argParser(choice('--stdin', ['json'])))
  return claimFlag(successorFlags(command))
}

function optionsIn(command: Command, runtime: Runtime): ExecOptions {
  const options = parsed<Omit<ExecOptions, 'command'>>(command, ['stream', 'event'])
  return { ...options, command: programIn(command.processedArgs[2] ?? [], runtime, 'exec STREAM ID -- COMMAND …') }
}

/** The words of the program, which stand behind `--`: in front of it they could be flags of ours. */
export function programIn(words: readonly string[], { argv }: Runtime, usage: string): readonly [string, ...string[]] {
  const [program, ...args] = words
  if (program === undefined) throw new UsageError('a command to run is missing', { hint: usage })
  if (argv.at(-words.length - 1) !== '--') throw new UsageError('the command has to stand behind --', { hint: usage })
  if (program === '') throw new UsageError('the name of the command is empty', { hint: 'An unset shell variable?' })
  return [program, ...args]
}

const run: Run<ExecOptions> = async (...given) => (await import('./exec/run.ts')).exec(...given)

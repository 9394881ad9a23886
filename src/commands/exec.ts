import { type Command, Option } from 'commander'
import { act, describe, parsed, type Run } from '../cli/command.ts'
import { everyWorkerChange } from '../cli/options.ts'
import { UsageError } from '../cli/problem.ts'
import type { Runtime } from '../cli/runtime.ts'
import { choice, duration, eventId, streamName } from '../cli/values.ts'
import { attributeFlags, claimFlag, ownerFlag, successorFlags } from './event/flags.ts'
import type { ExecOptions } from './exec/options.ts'

const NOTES = `
leasectl claims the event and renews the claim while the command runs, with a heartbeat every third of --claim, or of the
timeout of the event if that is shorter. Exit code 0 completes the event, or advances it with --next or --fork. Exit code 75
(EX_TEMPFAIL) is a failure that passes: the event is tried again after a pause, while attempts are left (init --retries). Any
other code fails it, with the last lines of stderr as its message. A command that runs longer than the attempt timeout of its
event is stopped, and tried again in the same way. If the command cannot be started, the event stays unchanged.

The command gets these variables: LEASECTL_STORE, LEASECTL_STREAM, LEASECTL_EVENT, LEASECTL_OWNER, LEASECTL_FENCE and
LEASECTL_BORN, so that leasectl event touch "$LEASECTL_STREAM" "$LEASECTL_EVENT" needs no flags, and it can end the event
itself; LEASECTL_ATTEMPT, counted from 1; LEASECTL_ATTEMPT_KEY, which is the same each time this attempt of this event runs;
in an undo step LEASECTL_UNDOES, the id of the step to undo, and LEASECTL_UNSURE=yes if there may be nothing to undo; and
LEASECTL_OUTPUT, a file to which it can append

  next=NAME   fork=NAME (one line each)   join=NAME       next events; they replace --next, --fork and --join
  topic= key= tag= ref= tracking-id= timeout= on-due=     attributes of the next events
  msg=TEXT, or msg<<END, lines of text and a line END     message of the event

An invalid line fails the event. So does a file of more than 64 KiB.

LEASECTL_INPUT is a file with the input of the event, and absent if it has none. What the command leaves in the file
LEASECTL_RESULT, up to 16 MiB, becomes the result of the event, also if it fails. LEASECTL_RESULT_TYPE is a file for the
media type of the result; without it the type is application/json for a JSON object or list, text/plain for other UTF-8
text, otherwise application/octet-stream. leasectl event data "$LEASECTL_STREAM" "$LEASECTL_EVENT" lists the results of
earlier events that this event works with. All these files are private, and removed afterwards.

The command inherits stdout and stdin; with --stdin json it reads the event from stdin. It runs in its own session. leasectl
forwards SIGINT and SIGTERM to it and all its children, SIGHUP and SIGQUIT as SIGTERM, and kills them after --grace. If the
command then exits with 0 the event is completed, otherwise handed back. leasectl stops the command in the same way when
the event is canceled or the claim is lost, but then reports nothing. Children that outlive the command keep running.

Exit: the code of the command; 128 + N if signal N ended it; 126 not executable, 127 not found; 125 leasectl could not
claim, lost the claim or could not report the result: the error has the code (help exit-codes). -o json is only for errors.
`

export function register(parent: Command, runtime: Runtime, go: Run<ExecOptions> = run): void {
  const command = parent
    .command('exec')
    .usage('[options] STREAM ID -- COMMAND…')
    .argument('<STREAM>', 'name of the stream', streamName)
    .argument('<ID>', 'id of the event, as 01.02.00', eventId)
    .argument('[COMMAND...]', 'the command to run, after --')
    .option('--take-over', 'claim it even if a program without claims may still be working on it')
  attributeFlags(programFlags(command))
  command.addHelpText('after', NOTES)
  everyWorkerChange(command)
  describe(command, runtime, {
    summary: 'run a command as the worker of an event: claim it, send heartbeats, report the result',
    examples: [
      ['exec orders/4711 01.00 -- ./search.sh', 'its exit code decides how the event ends'],
      ['exec orders/4711 01.00 --next Pay -- python3 search.py', 'then add the next step'],
      ['exec orders/4711 01.01 --stdin json -- jq .event.key', 'pass the event on stdin'],
      ['exec orders/4711 01.01 --claim 10m --grace 1m -- make', 'long claim, a minute to stop'],
    ],
    formats: ['text', 'json'],
    kind: 'writes',
    effect: 'Writes: the claim, each heartbeat and the result change the stream.',
  })
  act(command, runtime, 'writes', () => optionsIn(command, runtime), go)
}

/** Adds the flags of `exec` and `work`, except those for attributes of the next events. */
export function programFlags(command: Command): Command {
  ownerFlag(command)
    .addOption(
      new Option('--grace <duration>', 'time from SIGTERM to SIGKILL (default: 10s)').argParser(
        duration('--grace', { zero: true }),
      ),
    )
    .addOption(new Option('--stdin <what>', 'json: pass the event on stdin').argParser(choice('--stdin', ['json'])))
  return claimFlag(successorFlags(command))
}

function optionsIn(command: Command, runtime: Runtime): ExecOptions {
  const options = parsed<Omit<ExecOptions, 'command'>>(command, ['stream', 'event'])
  return { ...options, command: programIn(command.processedArgs[2] ?? [], runtime, 'exec STREAM ID -- COMMAND …') }
}

/** The words of the program. They must follow `--`; before it they could be flags of leasectl. */
export function programIn(words: readonly string[], { argv }: Runtime, usage: string): readonly [string, ...string[]] {
  const [program, ...args] = words
  if (program === undefined) throw new UsageError('a command to run is missing', { hint: usage })
  if (argv.at(-words.length - 1) !== '--') throw new UsageError('the command must follow --', { hint: usage })
  if (program === '') throw new UsageError('the name of the command is empty', { hint: 'An unset shell variable?' })
  return [program, ...args]
}

const run: Run<ExecOptions> = async (...given) => (await import('./exec/run.ts')).exec(...given)

import { type Command, Option } from 'commander'
import { type Run, reads } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { filterFlags } from '../cli/selection/flags.ts'
import { added, choice, choices, count, requiredText } from '../cli/values.ts'
import { type EventsOptions, LISTED_STATES } from './events/options.ts'

const NOTES = `
Without --state or --waiting-for every event that somebody or something is needed for: ready, running, abandoned, held, suspended, overdue.
  waiting    it cannot begin yet: it waits for a time, a signal, other events, or the branches of its fork
  abandoned  its claim has ended: the worker is silent, and another one takes over
  overdue    its limit has expired; failed: it was aborted, and no retry has replaced it
The flags below select streams, those above events in them; --owner selects both. Summaries answer most questions; --due,
--sort, --state overdue, and -o wide read the documents of streams with limits, too.
`

export function register(parent: Command, runtime: Runtime, go: Run<EventsOptions> = run): void {
  const command = parent.command('events')
  const options = [
    new Option('--name <name>', 'events of this name').argParser(added(requiredText('--name'))),
    new Option('--state <state>', `events that are ${LISTED_STATES.join(', ')}; separated by commas`).argParser(
      choices('--state', LISTED_STATES),
    ),
    new Option(
      '--waiting-for <what>',
      'events that wait for a timer, signal, after (other events), step (one to come) or branches; or for the signal of this name, or the event of this id',
    ).argParser(added(requiredText('--waiting-for'))),
    new Option('--due', 'events with a limit, and when it expires'),
    new Option('--sort <by>', 'wake: the first limit first; age: the oldest first').argParser(
      choice('--sort', ['wake', 'age']),
    ),
    new Option('--limit <n>', 'at most N events (default: 200 for a table on a terminal, else all)').argParser(
      count('--limit', 1),
    ),
  ]
  for (const option of options) command.addOption(option)
  filterFlags(command)
  command.addHelpText('after', NOTES)
  const description = {
    summary:
      'list events of all streams: what workers have in hand, how deep the queue of a step is, what is past its limit',
    examples: [
      ['events --name Pay --state ready', 'the queue of a step'],
      ['events --owner pay@aks-9 -o wide', 'what a worker has in hand, and until when'],
      ['events --waiting-for approved', 'what waits for a signal'],
      ['events --waiting-for timer --sort wake --limit 20', 'what wakes next'],
      ['events --due --sort wake --limit 20', 'what is due next'],
      ['events --state overdue,abandoned,failed', 'what is dead'],
    ],
    formats: ['table', 'wide', 'json', 'ndjson', 'csv'],
  } as const
  reads(command, runtime, description, [], go)
}

const run: Run<EventsOptions> = async (...given) => (await import('./events/run.ts')).listEvents(...given)

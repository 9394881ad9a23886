import { type Command, Option } from 'commander'
import { type Run, reads } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { filterFlags } from '../cli/selection/flags.ts'
import { choice, choices, count, duration, withWords } from '../cli/values.ts'
import { LISTING_CHOICES } from '../formats/listing/fields.ts'
import { type LsOptions, SORT_FIELDS, sortKey } from './ls/options.ts'

export function register(parent: Command, runtime: Runtime, go: Run<LsOptions> = run): void {
  const command = parent.command('ls').alias('list')
  for (const option of listFlags()) command.addOption(option)
  filterFlags(command)
  const description = {
    summary: 'lists streams, sorted by name',
    examples: [
      ["ls --match 'orders/**' --status inprocess", 'what is open'],
      ['ls --failed --since 1h --sort -failedAt', 'what failed in the last hour, the latest first'],
      ['ls --failed --since 1h --fields name,failedAt,failure', 'and why'],
      ['ls --group-by waiting-on', 'what everything is stuck on'],
      ['ls --overdue -w', 'drawn again in place, until Ctrl-C'],
      ['ls --failed -o name', 'names alone, for scripts'],
      ['ls --fields name,due,failure -o ndjson', 'one JSON document a line'],
    ],
    formats: ['table', 'wide', 'name', 'json', 'ndjson', 'yaml'],
  } as const
  reads(command, runtime, description, [], go)
}

function listFlags(): Option[] {
  return [
    new Option(
      '--sort <field>',
      `by ${SORT_FIELDS.join(', ')}; -FIELD or FIELD:desc turns it round; what has no value comes last (default: name)`,
    ).argParser(withWords(SORT_FIELDS, sortKey)),
    new Option('--limit <n>', 'at most so many (default: 200 for a table on a terminal, else all)').argParser(
      count('--limit', 1),
    ),
    new Option('--fields <names>', `only these, in this order: ${LISTING_CHOICES.join(', ')}`).argParser(
      choices('--fields', LISTING_CHOICES),
    ),
    new Option(
      '--group-by <what>',
      'how many, the oldest and the newest (by age, by when it failed, by the last change), and an example: ' +
        'status; failure: numbers and ids in its text do not count; waiting-on: a stream counts for each event',
    ).argParser(choice('--group-by', ['status', 'failure', 'waiting-on'])),
    new Option('-w, --watch', 'draw it again in place, on a terminal'),
    new Option('--interval <duration>', 'with -w: how often (default: 1s, on Azure 2s)').argParser(
      duration('--interval'),
    ),
  ]
}

const run: Run<LsOptions> = async (...given) => (await import('./ls/run.ts')).listStreams(...given)

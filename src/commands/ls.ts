import { type Command, Option } from 'commander'
import { parsedWithContexts, type Run, reads } from '../cli/command.ts'
import { severalContexts } from '../cli/options.ts'
import type { Runtime } from '../cli/runtime.ts'
import { filterFlags } from '../cli/selection/flags.ts'
import { choice, choices, count, duration, pointInTime, withWords } from '../cli/values.ts'
import { LISTING_CHOICES } from '../formats/listing/fields.ts'
import { type LsOptions, SORT_FIELDS, sortKey } from './ls/options.ts'

export function register(parent: Command, runtime: Runtime, go: Run<LsOptions> = run): void {
  const command = parent.command('ls').alias('list')
  for (const option of listFlags()) command.addOption(option)
  filterFlags(command)
  command.addOption(severalContexts())
  const description = {
    summary: 'list streams, sorted by name',
    examples: [
      ["ls --match 'orders/**' --status inprocess", 'open streams'],
      ['ls --failed --since 1h --sort -failedAt', 'failures of the last hour, latest first'],
      ['ls --failed --since 1h --fields name,failedAt,failure', 'with their causes'],
      ['ls --state blocked,suspended', 'streams that go on only when somebody acts'],
      ['ls --group-by waiting-on', 'the steps that streams wait for: ready, running or abandoned'],
      ['ls --failed --group-by failure', 'the causes of failures, each with flags that select its streams'],
      ['ls --at 14:00 --group-by waiting-on', 'what they waited for at 14:00'],
      ['ls --overdue -w', 'refreshed in place until Ctrl-C'],
      ['ls --failed -c prod-eu,prod-us', 'of several stores, with a column for the store'],
      ['ls --failed -o name', 'only names, for scripts'],
      ['ls --failed --since 1d -o html > failed.html', 'a page to send: the table and each failure'],
      ['ls --fields name,due,failure -o ndjson', 'one JSON document per line'],
      ['ls --failed --fields name,failedAt,failure -o csv > failed.csv', 'a table for a spreadsheet'],
    ],
    formats: ['table', 'wide', 'name', 'json', 'ndjson', 'yaml', 'csv', 'html'],
  } as const
  reads(command, runtime, description, parsedWithContexts<LsOptions>, go)
}

function listFlags(): Option[] {
  return [
    new Option(
      '--sort <field>',
      `sort by ${SORT_FIELDS.join(', ')}; -FIELD or FIELD:desc reverses the order; empty values sort last (default: name)`,
    ).argParser(withWords(SORT_FIELDS, sortKey)),
    new Option(
      '--limit <n>',
      'at most N streams (default: 200 for a table on a terminal, 2000 for a page, else all)',
    ).argParser(count('--limit', 1)),
    new Option('--fields <names>', `only these fields, in this order: ${LISTING_CHOICES.join(', ')}`).argParser(
      choices('--fields', LISTING_CHOICES),
    ),
    new Option(
      '--group-by <what>',
      'count by status, state, failure (ignoring numbers and ids in its text), waiting-on (a stream counts for each event), root, ' +
        'topic or owner, with the oldest and the newest (by age, time of failure, last change), an example, and the flags ' +
        'that select the group',
    ).argParser(choice('--group-by', ['status', 'state', 'failure', 'waiting-on', 'root', 'topic', 'owner'])),
    new Option('--at <time>', 'the streams as they were then (14:00, 30m ago, RFC 3339), by their journals').argParser(
      pointInTime('--at'),
    ),
    new Option('-w, --watch', 'refresh in place, on a terminal'),
    new Option('--interval <duration>', 'with -w: time between refreshes (default: 1s, on Azure 2s)').argParser(
      duration('--interval'),
    ),
  ]
}

const run: Run<LsOptions> = async (...given) => (await import('./ls/run.ts')).listStreams(...given)

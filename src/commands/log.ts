import { type Command, Option } from 'commander'
import { type Run, reads } from '../cli/command.ts'
import { UsageError } from '../cli/problem.ts'
import type { Runtime } from '../cli/runtime.ts'
import { selectionFlags } from '../cli/selection/flags.ts'
import { choices, inFlag, lineCount, nonEmpty, pointInTime, repeatable, streamNames, withWords } from '../cli/values.ts'
import { globOf } from '../ops/glob.ts'
import { JOURNAL_OPERATIONS } from '../stream/journal/operations.ts'
import type { LogCommandOptions } from './log/options.ts'

/** Those of the journal, and those of the audit log. */
const OPS = [...JOURNAL_OPERATIONS, 'rm', 'import', 'export']

const NOTES = `
One line is one transaction. Several streams are merged by time, oldest first; with -o ndjson a filter, --streams and
--all print stream by stream as they are read, unless -n is given.
Heartbeats (event touch) leave no entry. Changes by a program that keeps no journal are "foreign"; they have no version
until a transaction records them. An unreadable stream is reported and left out: exit 7.
--audit shows the audit log of the store, one entry per command: rm, import, export into this store, and lease break. It
keeps the newest 256 KiB, about a thousand entries. "no end recorded": the command still runs, or was killed.
`

export function register(parent: Command, runtime: Runtime, go: Run<LogCommandOptions> = run): void {
  const command = parent
    .command('log')
    .argument('[STREAM...]', 'names of streams; without names, --since or a filter is required', streamNames)
    .addOption(new Option('--until <time>', 'only transactions until this time').argParser(pointInTime('--until')))
    .addOption(
      new Option('--by <actor>', 'only transactions of this actor; a pattern is allowed: *@host-7').argParser(text =>
        inFlag('--by', () => globOf(nonEmpty('--by')(text))),
      ),
    )
    .addOption(
      new Option('--op <operations>', `only these operations, separated by commas: ${OPS.join(', ')}`).argParser(
        withWords(OPS, repeatable(operations)),
      ),
    )
    .addOption(
      new Option(
        '-n, --lines <n>',
        'the last N, or all (default: all; sorted over a filter, --streams or --all: 20000)',
      ).argParser(lineCount),
    )
  command.option('--audit', 'the audit log of the store: removals, imports and broken leases')
  selectionFlags(command, 'only transactions since this time: 30m, 14:00, a date and time')
  command.addHelpText('after', NOTES)
  const description = {
    summary: 'show who did what, when and why, for one stream or many',
    examples: [
      ['log orders/4711', 'all transactions of one stream'],
      ['log --since 1h --op cancel,abort', 'what was canceled or aborted in the last hour, and why'],
      ["log --match 'orders/**' --by 'ops@*' -n 20", 'the last 20 by one actor'],
      ['log --all -o ndjson', 'the history of the store for scripts'],
      ['log --audit --since 7d', 'who removed or imported streams, or broke leases'],
    ],
    formats: ['table', 'json', 'ndjson', 'csv'],
  } as const
  reads(command, runtime, description, ['names'], go)
}

function operations(text: string, previous?: readonly string[]): readonly string[] {
  if (text.split(',').some(word => word.trim() === 'touch')) {
    throw new UsageError('--op touch: heartbeats leave no entry in the journal', {
      hint: 'show has the last heartbeat of each event.',
    })
  }
  return choices('--op', OPS)(text, previous)
}

const run: Run<LogCommandOptions> = async (...given) => (await import('./log/run.ts')).showLog(...given)

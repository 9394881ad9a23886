import { type Command, Option } from 'commander'
import { type Run, reads } from '../cli/command.ts'
import { UsageError } from '../cli/problem.ts'
import type { Runtime } from '../cli/runtime.ts'
import { selectionFlags } from '../cli/selection/flags.ts'
import { pointInTime } from '../cli/time-points.ts'
import { choices, inFlag, lineCount, nonEmpty, streamNames, withWords } from '../cli/values.ts'
import { globOf } from '../ops/glob.ts'
import type { LogCommandOptions } from './log/run.ts'

/** Operations that leave an entry in a journal, and the entries that leasectl makes by itself. */
const OPS = [
  ...['init', 'start', 'release', 'advance', 'complete', 'fail', 'cancel', 'abort', 'retry', 'set'],
  ...['settle', 'adopt', 'foreign'],
]

const NOTES = `
One line is one transaction. Over several streams they are sorted by time, the oldest first; with -o ndjson a filter,
--streams and --all are printed stream by stream as they are read, unless -n is given.
Heartbeats (event touch) leave no entry. What a writer did who keeps no journal is "foreign", by another program; while
nothing has recorded it yet it has no version. A stream that cannot be read is told and left out: exit 7.
`

export function register(parent: Command, runtime: Runtime, go: Run<LogCommandOptions> = run): void {
  const command = parent
    .command('log')
    .argument('[STREAM...]', 'names of streams; without one --since or a filter is needed', streamNames)
    .addOption(new Option('--until <time>', 'only transactions until then').argParser(pointInTime('--until')))
    .addOption(
      new Option('--by <actor>', 'only what this actor did; a pattern may be given: *@host-7').argParser(text =>
        inFlag('--by', () => globOf(nonEmpty('--by')(text))),
      ),
    )
    .addOption(
      new Option('--op <operations>', `only these, joined by commas: ${OPS.join(', ')}`).argParser(
        withWords(OPS, operations),
      ),
    )
    .addOption(
      new Option(
        '-n, --lines <n>',
        'the last n, or all (default: all; sorted over a filter, --streams or --all: 20000)',
      ).argParser(lineCount),
    )
  selectionFlags(command, 'only transactions since: 30m, 14:00, a date and time')
  command.addHelpText('after', NOTES)
  const description = {
    summary: 'who did what, when and why, over one stream or many',
    examples: [
      ['log orders/4711', 'everything that happened to one stream'],
      ['log --since 1h --op cancel,abort', 'what was ended by hand in the last hour, and why'],
      ["log --match 'orders/**' --by 'ops@*' -n 20", 'the last 20 of one actor'],
      ['log --all -o ndjson', 'the history of the store for scripts'],
    ],
    formats: ['table', 'json', 'ndjson'],
  } as const
  reads(command, runtime, description, ['names'], go)
}

function operations(text: string, previous?: readonly string[]): readonly string[] {
  if (text.split(',').some(word => word.trim() === 'touch')) {
    throw new UsageError('--op touch: heartbeats leave no entry in the journal', {
      hint: 'show tells the last sign of life of each event.',
    })
  }
  return choices('--op', OPS)(text, previous)
}

const run: Run<LogCommandOptions> = async (...given) => (await import('./log/run.ts')).showLog(...given)

import { type Command, Option } from 'commander'
import { parsedWithContexts, type Run, reads } from '../cli/command.ts'
import { severalContexts } from '../cli/options.ts'
import type { Problem } from '../cli/problem.ts'
import { filterFlags } from '../cli/selection/flags.ts'
import { sortOrder } from '../cli/sort-order.ts'
import { choice, count, duration, streamName, withWords } from '../cli/values.ts'
import type { ProgramRuntime } from './top/dashboard.ts'
import { THEMES, TOP_SORTS, type TopOptions } from './top/options.ts'

const NOTES = `
Press ? for the keys. It starts read-only: ! or --write unlocks changes for ten minutes, in a protected store only after you
type its name. Each change shows a preview and asks. If standard input or output is not a terminal, or with TERM=dumb, CI,
ACCESSIBLE=1 or --accessible, it prints the streams and then new transactions, line by line.
`

export function register(
  parent: Command,
  runtime: ProgramRuntime,
  go: Run<TopOptions> = options => run(options, runtime),
): void {
  const command = parent
    .command('top')
    .argument('[STREAM]', 'stream to open; it need not exist yet', streamName)
    .addOption(
      new Option(
        '--interval <duration>',
        'time between polls (default: 250ms, on Azure 2s; longer if the store is slow)',
      ).argParser(duration('--interval')),
    )
    .addOption(
      new Option(
        '--sort <column>',
        `sort the streams by ${TOP_SORTS.join(', ')}; -COLUMN or COLUMN:desc reverses the order (default: name)`,
      ).argParser(withWords(TOP_SORTS, sortOrder(TOP_SORTS))),
    )
    .addOption(new Option('--write', 'unlock changes from the start, for ten minutes'))
    .addOption(new Option('--read-only', 'never allow changes'))
    .addOption(
      new Option('--theme <theme>', `colours for a ${THEMES.slice(1).join(', ')} terminal (default: auto)`).argParser(
        choice('--theme', THEMES),
      ),
    )
    .option('--ascii', 'draw with ASCII characters only (default: by the locale and TERM)')
    .option('--no-ascii', 'draw with all characters, whatever the locale')
    .option('--bell', 'ring, notify and set the window title when something fails; B switches')
    .option('--mouse', 'take the wheel and clicks: a row, again to open it, a title to sort')
    .option('--accessible', 'print lines in words; draw nothing in place')
    .addOption(
      new Option('--limit <n>', 'as lines: at most N streams at the start (default: 200)').argParser(
        count('--limit', 1),
      ),
    )
  filterFlags(command)
  command.addOption(severalContexts())
  command.addHelpText('after', NOTES)
  const description = {
    summary: 'open a live dashboard of all streams or of one',
    examples: [
      ['top', 'all streams; ? shows the keys'],
      ['top orders/4711', 'one stream as a tree; it need not exist yet'],
      ["top --failed --match 'orders/**'", 'only these streams; filters as in ls'],
      ['top --overdue --sort due', 'the longest overdue first; s sorts by another column'],
      ["top --match 'orders/**' --write", 'with changes unlocked for ten minutes; each one asks'],
      ['top -c prod-eu,prod-us', 'several stores, with a column for the store'],
      ['top --accessible', 'as lines, for a screen reader or a log'],
    ],
    formats: ['text'],
    effect: 'Only reads: takes no lease. With changes unlocked it writes as cancel, abort, retry and lease break do.',
  } as const
  reads(command, runtime, description, topOptions, go)
}

/** The options and the stream. */
function topOptions(command: Command): TopOptions {
  const stream: string | undefined = command.processedArgs[0]
  return { ...parsedWithContexts<TopOptions>(command), ...(stream !== undefined && { stream }) }
}

async function run(options: TopOptions, runtime: ProgramRuntime): Promise<Problem | undefined> {
  const { top } = await import('./top/run.ts')
  return top(options, runtime)
}

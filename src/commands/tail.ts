import { type Command, Option } from 'commander'
import { parsed, type Run, reads } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { selectionFlags } from '../cli/selection/flags.ts'
import { count, duration, lineCount, streamNames } from '../cli/values.ts'
import { pattern, type TailOptions } from './tail/options.ts'

const NOTES = `
Several streams are put in order of time; with -f those of one look at a time. -n counts the transactions of all streams
together that --since, --include and --exclude let pass. Streams that come to match while it runs join, and stay when
they no longer match: the end of a stream is seen with --status inprocess too.
A pattern is a JavaScript regular expression; it is searched in each line as it is printed, the name of the stream in
front, without colours; (?i:text) ignores case. Several of a kind: one of them is enough.
`

export function register(parent: Command, runtime: Runtime, go: Run<TailOptions> = run): void {
  const command = parent
    .command('tail')
    .argument('[STREAM...]', 'names of streams; without one -f, --since or a filter is needed', streamNames)
    .option('-f, --follow', 'go on with what happens next, without a gap, across lost connections too')
    .addOption(new Option('-n, --lines <n>', 'how many, or all (default: 10; with --since: all)').argParser(lineCount))
    .addOption(
      new Option('--from-version <n>', 'of one stream: from this version on, instead of -n')
        .argParser(count('--from-version', 0))
        .conflicts('lines'),
    )
    .addOption(
      new Option('--interval <duration>', 'with -f: how often to look (default: 1s)').argParser(duration('--interval')),
    )
    .addOption(new Option('--include <pattern>', 'only what this is found in').argParser(pattern('--include')))
    .addOption(new Option('--exclude <pattern>', 'nothing that this is found in').argParser(pattern('--exclude')))
    .addOption(
      new Option('--highlight <pattern>', 'mark what is found, where there are colours').argParser(
        pattern('--highlight'),
      ),
    )
  selectionFlags(command, 'only transactions since: 30m, 14:00, a date and time')
  command.addHelpText('after', NOTES)
  const description = {
    summary: 'the last transactions of streams: what happened, who did it and why',
    examples: [
      ['tail orders/4711', 'the last ten'],
      ['tail -f orders/4711', 'and what happens next'],
      ['tail -n all -o ndjson orders/4711', 'the whole history for scripts'],
      ["tail -f --match 'orders/**' --exclude ' set '", 'what happens to many, but for what is set'],
      ['tail --since 1h --include abort --include cancel', 'what went wrong in the last hour'],
    ],
    formats: ['text', 'ndjson'],
  } as const
  reads(command, runtime, description, parse, go)
}

/** One stream by name is another matter than several: it is read, not looked for in a listing. */
function parse(command: Command): TailOptions {
  const { names = [], ...options } = parsed<TailOptions>(command, ['names'])
  const [only] = names
  return names.length === 1 && only !== undefined ? { ...options, stream: only } : { ...options, names }
}

const run: Run<TailOptions> = async (...given) => (await import('./tail/run.ts')).tailStreams(...given)

import { type Command, Option } from 'commander'
import { parsed, type Run, reads } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { selectionFlags } from '../cli/selection/flags.ts'
import { count, duration, lineCount, streamNames } from '../cli/values.ts'
import { pattern, type TailOptions } from './tail/options.ts'

const NOTES = `
Transactions of several streams are sorted by time; with -f within each poll. -n counts the transactions of all streams
together that pass --since, --include and --exclude. A stream that matches later is added, and stays when it no longer
matches, so that --status inprocess also shows how a stream ends.
A pattern is a JavaScript regular expression. It is matched against the printed line, which begins with the name of the
stream, without colours; (?i:text) ignores case. With several patterns of a kind, one match is enough.
`

export function register(parent: Command, runtime: Runtime, go: Run<TailOptions> = run): void {
  const command = parent
    .command('tail')
    .argument('[STREAM...]', 'names of streams; without names, -f, --since or a filter is required', streamNames)
    .option('-f, --follow', 'keep printing new transactions, without gaps, even after a lost connection')
    .addOption(
      new Option('-n, --lines <n>', 'the last N, or all (default: 10; with --since: all)').argParser(lineCount),
    )
    .addOption(
      new Option('--from-version <n>', 'for one stream: start at this version, instead of -n')
        .argParser(count('--from-version', 0))
        .conflicts('lines'),
    )
    .addOption(
      new Option('--interval <duration>', 'with -f: time between polls (default: 1s)').argParser(
        duration('--interval'),
      ),
    )
    .addOption(new Option('--include <pattern>', 'only lines that match').argParser(pattern('--include')))
    .addOption(new Option('--exclude <pattern>', 'only lines that do not match').argParser(pattern('--exclude')))
    .addOption(
      new Option('--highlight <pattern>', 'highlight matches, if colours are on').argParser(pattern('--highlight')),
    )
  selectionFlags(command, 'only transactions since this time: 30m, 14:00, a date and time')
  command.addHelpText('after', NOTES)
  const description = {
    summary: 'show the last transactions of streams, and follow new ones',
    examples: [
      ['tail orders/4711', 'the last ten transactions'],
      ['tail -f orders/4711', 'then follow new ones'],
      ['tail -n all -o ndjson orders/4711', 'the whole history for scripts'],
      ["tail -f --match 'orders/**' --exclude ' set '", 'follow many streams, without attribute changes'],
      ['tail --since 1h --include abort --include cancel', 'what was aborted or canceled in the last hour'],
    ],
    formats: ['text', 'ndjson'],
  } as const
  reads(command, runtime, description, parse, go)
}

/** A single stream by name is read directly, several are found in a listing. */
function parse(command: Command): TailOptions {
  const { names = [], ...options } = parsed<TailOptions>(command, ['names'])
  const [only] = names
  return names.length === 1 && only !== undefined ? { ...options, stream: only } : { ...options, names }
}

const run: Run<TailOptions> = async (...given) => (await import('./tail/run.ts')).tailStreams(...given)

import { type Command, Option } from 'commander'
import { type Run, reads } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { duration, nonEmpty, streamNames } from '../cli/values.ts'
import { type ShowCommandOptions, versionOrTime } from './show/options.ts'

export function register(parent: Command, runtime: Runtime, go: Run<ShowCommandOptions> = run): void {
  const command = parent
    .command('show')
    .argument('<STREAM...>', 'names of streams', streamNames)
    .addOption(
      new Option('--at <version>', 'as it was at a version (12) or at a time (14:00, 30m ago, RFC 3339)').argParser(
        versionOrTime('--at'),
      ),
    )
    .addOption(
      new Option('--diff <version>', 'what has changed since a version or time; with --at, until that one').argParser(
        versionOrTime('--diff'),
      ),
    )
    .addOption(
      new Option('--select <xpath>', 'only the events that match, or the value of the expression').argParser(
        nonEmpty('--select'),
      ),
    )
    .option('--must', 'with --select: exit 3 when nothing matches (no event, 0, false, empty text)')
    .option('-w, --watch', 'draws it again in place until Ctrl-C')
    .addOption(
      new Option('--interval <duration>', 'with -w: how often to look (default: 1s, over a network 2s)').argParser(
        duration('--interval'),
      ),
    )
  const description = {
    summary: 'a stream as a tree: status, age, what it waits on, what failed',
    examples: [
      ['show orders/4711', 'the tree'],
      ['show orders/4711 -o timeline', 'where its time went: waiting, running'],
      ['show orders/4711 --at 14:00', 'as it was at 14:00'],
      ['show orders/4711 --diff 12', 'what has changed since version 12, who did it and why'],
      [`show orders/4711 --select "./Event[@status='init']"`, 'the events that match'],
      [`show orders/4711 --select "count(//Event[@status='aborted'])" --must`, 'a number; exit 3 when it is 0'],
      ['show orders/4711 -w', 'redrawn in place'],
      ['show orders/4711 -o json', 'for scripts'],
      ['show orders/4711 -o xml > 4711.xml', 'the stored document, byte by byte'],
    ],
    formats: ['tree', 'table', 'timeline', 'json', 'yaml', 'xml', 'mermaid'],
  } as const
  reads(command, runtime, description, ['streams'], go)
}

const run: Run<ShowCommandOptions> = async (...given) => (await import('./show/run.ts')).showStreams(...given)

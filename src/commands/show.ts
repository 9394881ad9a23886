import { type Command, Option } from 'commander'
import { type Run, reads } from '../cli/command.ts'
import { UsageError } from '../cli/problem.ts'
import type { Runtime } from '../cli/runtime.ts'
import { count, duration, eventId, leaseId, nonEmpty, streamNames } from '../cli/values.ts'
import { type ShowCommandOptions, versionOrTime } from './show/options.ts'

export function register(parent: Command, runtime: Runtime, go: Run<ShowCommandOptions> = run): void {
  const command = parent
    .command('show')
    .argument('<STREAM...>', 'names of streams', streamNames)
    .addOption(
      new Option('--at <version>', 'the stream at a version (12) or time (14:00, 30m ago, RFC 3339)').argParser(
        versionOrTime('--at'),
      ),
    )
    .addOption(
      new Option('--diff <version>', 'changes since a version or time; with --at, up to that one').argParser(
        versionOrTime('--diff'),
      ),
    )
    .addOption(
      new Option('--depth <n>', 'only N levels of the tree below its root; what is below is counted').argParser(
        count('--depth', 0),
      ),
    )
    .addOption(
      new Option('--select <xpath>', 'only matching events, or the value of the expression').argParser(
        nonEmpty('--select'),
      ),
    )
    .option('--must', 'with --select: exit 3 if nothing matches (no event, 0, false, empty text)')
    .addOption(
      new Option('--data <id>', 'print the result of an event or, if it has none, its input').argParser(eventWithData),
    )
    .addOption(
      new Option('--lease-id <id>', 'with -o xml: read only while this lease is the lease of the stream').argParser(
        leaseId('--lease-id'),
      ),
    )
    .option('-w, --watch', 'refresh in place, on a terminal')
    .addOption(
      new Option('--interval <duration>', 'with -w: time between refreshes (default: 1s, on Azure 2s)').argParser(
        duration('--interval'),
      ),
    )
  const description = {
    summary: 'show a stream as a tree: status, age, what it waits for, what failed',
    examples: [
      ['show orders/4711', 'the tree'],
      ['show orders/4711 --depth 1', 'a large tree: its branches, with counts of what is below'],
      ['show orders/4711 -o timeline', 'where the time went: waiting, running'],
      ['show orders/4711 --at 14:00', 'its state at 14:00'],
      ['show orders/4711 --diff 12', 'changes since version 12: who and why'],
      [`show orders/4711 --select "./Event[@status='init']"`, 'only matching events'],
      [`show orders/4711 --select "count(//Event[@status='aborted'])" --must`, 'a number; exit 3 if it is 0'],
      ['show orders/4711 --data 01.00 > found.json', 'the result of an event; event data has both'],
      ['show orders/4711 -w', 'refreshed in place'],
      ['show orders/4711 -o json', 'for scripts'],
      ['show orders/4711 -o html > 4711.html', 'a page to send: everything in one file'],
      ['show orders/4711 -o xml > 4711.xml', 'the stored document, byte for byte'],
    ],
    formats: ['tree', 'table', 'timeline', 'json', 'yaml', 'xml', 'mermaid', 'html'],
  } as const
  reads(command, runtime, description, ['streams'], go)
}

/** `--data @FILE` belongs to commands that give data to events. */
function eventWithData(text: string): string {
  if (!text.startsWith('@')) return eventId(text)
  throw new UsageError('show --data takes the id of an event, such as 01.00', {
    hint: 'init and event advance take --data @FILE.',
  })
}

const run: Run<ShowCommandOptions> = async (...given) => (await import('./show/run.ts')).showStreams(...given)

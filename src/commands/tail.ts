import { type Command, Option } from 'commander'
import { streamName } from './arguments.ts'
import { parsed, type Run, reads } from './command.ts'
import type { TailOptions } from './run-tail.ts'
import type { Runtime } from './runtime.ts'
import { count, duration, lineCount } from './values.ts'

export function register(parent: Command, runtime: Runtime, go: Run<TailOptions> = run): void {
  const command = parent
    .command('tail')
    .argument('<STREAM>', 'name of the stream', streamName)
    .option('-f, --follow', 'go on with what happens next, without a gap, across lost connections too')
    .addOption(new Option('-n, --lines <n>', 'how many, or all (default: 10)').argParser(lineCount))
    .addOption(
      new Option('--from-version <n>', 'from this version on, instead of -n')
        .argParser(count('--from-version', 0))
        .conflicts('lines'),
    )
    .addOption(
      new Option('--interval <duration>', 'with -f: how often to look (default: 1s)').argParser(duration('--interval')),
    )
  const description = {
    summary: 'the last transactions of a stream: what happened, who did it and why',
    examples: [
      ['tail orders/4711', 'the last ten'],
      ['tail -f orders/4711', 'and what happens next'],
      ['tail -n all -o ndjson orders/4711', 'the whole history for scripts'],
    ],
    formats: ['text', 'ndjson'],
  } as const
  reads(command, runtime, description, parse, go)
}

const parse = (command: Command) => parsed<TailOptions>(command, ['stream'])

export const run: Run<TailOptions> = async (options, runtime) => {
  const { tailStream } = await import('./run-tail.ts')
  return tailStream(options, runtime)
}

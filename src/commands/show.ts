import type { Command } from 'commander'
import { streamNames } from './arguments.ts'
import { parsed, type Run, reads } from './command.ts'
import type { ShowOptions } from './run-show.ts'
import type { Runtime } from './runtime.ts'

export function register(parent: Command, runtime: Runtime, go: Run<ShowOptions> = run): void {
  const command = parent.command('show').argument('<STREAM...>', 'names of streams', streamNames)
  const description = {
    summary: 'a stream as a tree: status, age, what it waits on, what failed',
    examples: [
      ['show orders/4711', 'the tree'],
      ['show orders/4711 -o json', 'for scripts'],
      ['show orders/4711 -o xml > 4711.xml', 'the stored document, byte by byte'],
    ],
    formats: ['tree', 'table', 'json', 'yaml', 'xml'],
  } as const
  reads(command, runtime, description, parse, go)
}

const parse = (command: Command) => parsed<ShowOptions>(command, ['streams'])

export const run: Run<ShowOptions> = async (options, runtime) => {
  const { showStreams } = await import('./run-show.ts')
  return showStreams(options, runtime)
}

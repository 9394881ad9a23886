import { type Command, Option } from 'commander'
import { parsed, type Run, reads } from './command.ts'
import type { LsOptions } from './run-ls.ts'
import type { Runtime } from './runtime.ts'
import { filterFlags } from './selection/flags.ts'
import { count } from './values.ts'

export function register(parent: Command, runtime: Runtime, go: Run<LsOptions> = run): void {
  const command = parent
    .command('ls')
    .alias('list')
    .addOption(
      new Option('--limit <n>', 'at most so many (default: 200 for a table on a terminal, else all)').argParser(
        count('--limit', 1),
      ),
    )
  filterFlags(command)
  const description = {
    summary: 'lists streams, sorted by name',
    examples: [
      ["ls --match 'orders/**' --status inprocess", 'what is open'],
      ['ls --failed -o name', 'names alone, for scripts'],
      ['ls -o ndjson', 'one JSON document a line'],
    ],
    formats: ['table', 'json', 'ndjson', 'name'],
  } as const
  reads(command, runtime, description, parse, go)
}

const parse = (command: Command) => parsed<LsOptions>(command, [])

export const run: Run<LsOptions> = async (options, runtime) => {
  const { listStreams } = await import('./run-ls.ts')
  return listStreams(options, runtime)
}

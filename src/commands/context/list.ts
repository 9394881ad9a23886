import type { Command } from 'commander'
import { parsed, type Run, reads } from '../../cli/command.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import type { Runtime } from '../../cli/runtime.ts'

export function register(parent: Command, runtime: Runtime, go: Run<GlobalOptions> = run): void {
  const command = parent.command('list').alias('ls')
  const description = {
    summary: 'lists the contexts; * marks the current one',
    examples: [
      ['context list', 'names, addresses, which are protected'],
      ['context list -o json', 'for scripts'],
    ],
    formats: ['table', 'json', 'name'],
    effect: 'Only reads: your list of contexts, no store.',
  } as const
  reads(command, runtime, description, parse, go)
}

const parse = (command: Command) => parsed<GlobalOptions>(command, [])

export const run: Run<GlobalOptions> = async (options, runtime) => {
  const { listContexts } = await import('./run-list.ts')
  return listContexts(options, runtime)
}

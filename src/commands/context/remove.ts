import type { Command } from 'commander'
import { act, describe, parsed, type Run } from '../../cli/command.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { contextName } from '../../cli/values.ts'
import type { RemoveContextOptions } from './run-remove.ts'

export function register(parent: Command, runtime: Runtime, go: Run<RemoveContextOptions> = run): void {
  const command = parent
    .command('remove')
    .alias('rm')
    .argument('<CONTEXT>', 'name of the context', contextName('CONTEXT'))
  describe(command, runtime, {
    kind: 'writes',
    effect: 'Writes: your list of contexts. The store and its streams stay as they are.',
    summary: 'forgets a context',
    examples: [['context remove dev', 'the name, not the store']],
    formats: ['text', 'json'],
  })
  act(command, runtime, 'writes', parse, go)
}

const parse = (command: Command) => parsed<RemoveContextOptions>(command, ['name'])

export const run: Run<RemoveContextOptions> = async (options, runtime) => {
  const { removeContext } = await import('./run-remove.ts')
  return removeContext(options, runtime)
}

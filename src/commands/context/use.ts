import type { Command } from 'commander'
import { act, describe, parsed, type Run } from '../../cli/command.ts'
import { UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { contextName } from '../../cli/values.ts'
import type { UseContextOptions } from './run-use.ts'

export function register(parent: Command, runtime: Runtime, go: Run<UseContextOptions> = run): void {
  const command = parent
    .command('use')
    .argument('[CONTEXT]', 'name of the context; - is the one before', nameOrBack)
    .option('--none', 'no context: the store of the environment, else the embedded one')
  describe(command, runtime, {
    kind: 'writes',
    effect: 'Writes: which context is current, no stream.',
    summary: 'makes a context the current one: its store is meant where none is named',
    examples: [
      ['context use prod', 'from now on, in every terminal'],
      ['context use -', 'back to the one before'],
      ['context use --none', 'none is current'],
    ],
    formats: ['text', 'json'],
  })
  act(command, runtime, 'writes', parse, go)
}

const nameOrBack = (text: string) => (text === '-' ? text : contextName('CONTEXT')(text))

function parse(command: Command): UseContextOptions {
  const options = parsed<UseContextOptions & { readonly none?: boolean }>(command, ['name'])
  if ((options.name === undefined) === (options.none === true)) return options
  throw new UsageError(options.none ? 'CONTEXT and --none exclude each other' : 'which context?', {
    hint: `${options.none ? 'Use one of them' : 'Name it, or use - for the one before'}; context list shows them.`,
  })
}

export const run: Run<UseContextOptions> = async (options, runtime) => {
  const { useContext } = await import('./run-use.ts')
  return useContext(options, runtime)
}

import { type Command, Option } from 'commander'
import { act, describe, parsed, type Run } from '../../cli/command.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { contextName, nonEmpty } from '../../cli/values.ts'
import type { AddContextOptions } from './run.ts'

export function register(parent: Command, runtime: Runtime, go: Run<AddContextOptions> = run): void {
  const command = parent
    .command('add')
    .argument('<NAME>', 'name of the context', contextName('NAME'))
    .option(
      '--protected',
      'cancel, abort, retry, rm and what writes over streams ask there, whichever way the store is named',
    )
    .addOption(
      new Option(
        '--credential-file <file>',
        'key, SAS or sign-in of this store: a file that only you may read',
      ).argParser(nonEmpty('--credential-file')),
    )
    .option('--use', 'makes it the current one too')
    .option('--replace', 'replaces the context of this name')
  describe(command, runtime, {
    kind: 'writes',
    effect: 'Writes: your list of contexts, no stream.',
    summary: 'gives the store of --store a name',
    examples: [
      ['context add dev --store azurite:orders --use', 'and makes it the current one'],
      ['context add prod --store azure:orders4711/events --protected', 'cancel and the like ask there first'],
      ['context add prod --store azure:orders4711/events --credential-file ~/.leasectl-prod', 'with a key of its own'],
    ],
    formats: ['text', 'json'],
  })
  act(command, runtime, 'writes', parse, go)
}

const parse = (command: Command) => parsed<AddContextOptions>(command, ['name'])

export const run: Run<AddContextOptions> = async (options, runtime) => {
  const { addContext } = await import('./run.ts')
  return addContext(options, runtime)
}

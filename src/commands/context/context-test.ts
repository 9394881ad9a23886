import type { Command } from 'commander'
import { act, describe, parsed, type Run } from '../../cli/command.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { contextName } from '../../cli/values.ts'
import type { TestContextOptions } from './test.ts'

export function register(parent: Command, runtime: Runtime, go: Run<TestContextOptions> = run): void {
  const command = parent
    .command('test')
    .argument('[CONTEXT]', 'name of the context (default: the store meant)', contextName('CONTEXT'))
  describe(command, runtime, {
    kind: 'writes',
    effect: 'Writes: a probe of its own below .leasectl/, which it removes again.',
    summary: 'tries a store: lists, reads, creates, leases, writes, removes',
    examples: [
      ['context test prod', 'step by step, with the time each took'],
      ['context test', 'the store meant'],
    ],
    formats: ['table', 'json'],
  })
  act(command, runtime, 'writes', parse, go)
}

const parse = (command: Command) => parsed<TestContextOptions>(command, ['name'])

export const run: Run<TestContextOptions> = async (options, runtime) => {
  const { testContext } = await import('./test.ts')
  return testContext(options, runtime)
}

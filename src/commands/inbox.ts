import type { Command } from 'commander'
import { describeGroup } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { registerDead } from './inbox/dead.ts'
import { registerDrain } from './inbox/drain.ts'

/** `inbox …`: requests are put at any rate, and drained to streams at the pace the store bears. */
export function register(parent: Command, runtime: Runtime): void {
  const group = parent.command('inbox').usage('COMMAND …')
  describeGroup(group, runtime, {
    summary: 'take requests at any rate and make streams of them',
    description:
      'An inbox is a durable log of records in the store of the streams. Putting is fast and never waits for the work ' +
      'behind it; a drain makes each record a stream, or a step of one, at the pace the store bears.',
    examples: [
      ["inbox drain orders --template order.yaml --name 'orders/{/id}'", 'make a stream of each record'],
      ['inbox dead ls orders', 'the records that could not be done'],
    ],
  })
  for (const registerIn of [registerDrain, registerDead]) registerIn(group, runtime)
}

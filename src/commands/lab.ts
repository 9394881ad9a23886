import type { Command } from 'commander'
import { describeGroup } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import * as lease from './lab/lab-lease.ts'
import * as stream from './lab/lab-stream.ts'

/** `lab …`: how a store bears up when processes contend for one stream. */
export function register(parent: Command, runtime: Runtime): void {
  const group = parent.command('lab').usage('COMMAND …')
  describeGroup(group, runtime, {
    summary: 'contention tests: lease, stream',
    description:
      'Contention tests, with processes of their own, on the store of --store, else the embedded one: how long do they wait, how fair is it, is each event done exactly once.',
    examples: [
      ['lab lease --procs 5 --duration 20s', 'processes take a lease in turn'],
      ['lab stream --events 99 --procs 5', 'processes work on one stream'],
      ['lab stream --store azure:ACCOUNT/CONTAINER', 'on your own account'],
    ],
  })
  for (const command of [lease, stream]) command.register(group, runtime)
}

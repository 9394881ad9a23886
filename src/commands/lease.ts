import type { Command } from 'commander'
import { describeGroup } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import * as acquire from './lease/acquire.ts'
import * as breakLease from './lease/break.ts'
import * as change from './lease/change.ts'
import * as ls from './lease/ls.ts'
import * as release from './lease/release.ts'
import * as renew from './lease/renew.ts'
import * as show from './lease/show.ts'

/** `lease …`: leases by hand. */
export function register(parent: Command, runtime: Runtime): void {
  const group = parent.command('lease').usage('COMMAND …')
  describeGroup(group, runtime, {
    summary: 'leases by hand: ls, show, acquire, renew, change, release, break',
    description: 'Leases by hand. Only one who holds the lease of a stream can change it.',
    examples: [
      ['lease ls', 'who holds which lease'],
      ['lease show orders/4711', 'who holds this one'],
      ['lease break orders/4711', 'takes it from whoever holds it; asks first'],
    ],
  })
  for (const command of [ls, show, acquire, renew, change, release, breakLease]) command.register(group, runtime)
}

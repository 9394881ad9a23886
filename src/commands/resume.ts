import type { Command } from 'commander'
import type { Run } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { ROOT_ID } from '../stream/event-id.ts'
import type { ChangeResult } from '../stream/operations/operation.ts'
import { registerTransactCommand } from './batch/command.ts'
import type { BatchCommandOptions, TransactCommand } from './batch/options.ts'

const NOTES = `
The time that passed is added to the limits of open events; dates stay. A stream that init --hold made begins; filters
leave such streams out unless --event-state held is given. One that was suspended while it was held is held again.
`

export const RESUME: TransactCommand = {
  name: 'resume',
  thirdPerson: 'resumes',
  pastParticiple: 'resumed',
  summary: 'resume a suspended stream, or let a held one begin',
  examples: [
    ['resume orders/4711 -m "address is known"', 'it goes on'],
    ['resume --suspended', 'show the suspended streams, ask, then resume all of them'],
    ["resume --match 'import-17/**' --event-state held", 'let held streams begin'],
  ],
  leavesOut({ isSuspended, isHeld }, { eventState = [] }) {
    if (isSuspended) return undefined
    if (!isHeld) return 'not suspended'
    return eventState.includes('held') ? undefined : 'held (needs --event-state held)'
  },
  report: ({ changed }) =>
    changed.some(isStillHeld) ? { words: 'resumed: held as before, resume again begins it' } : {},
  operation: () => ({ op: 'resume' }),
}

/** The root of a stream that was suspended while it was held has not begun. */
function isStillHeld({ id, to }: ChangeResult['changed'][number]): boolean {
  return id === ROOT_ID && to === 'init'
}

export function register(parent: Command, runtime: Runtime, go?: Run<BatchCommandOptions>): void {
  registerTransactCommand(parent, runtime, RESUME, go).addHelpText('after', NOTES)
}

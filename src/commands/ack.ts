import type { Command } from 'commander'
import type { Run } from '../cli/command.ts'
import { UsageError } from '../cli/problem.ts'
import type { Runtime } from '../cli/runtime.ts'
import { registerTransactCommand, runTransactions } from './batch/command.ts'
import type { BatchCommandOptions, TransactCommand } from './batch/options.ts'

export const ACK: TransactCommand = {
  name: 'ack',
  thirdPerson: 'acknowledges the failures of',
  pastParticiple: 'acknowledged',
  summary: 'acknowledge the failures of a stream: ls --failed and check leave it out until it fails again',
  examples: [
    ['ack orders/4711 -m "refunded by hand"', 'a failure that was dealt with'],
    ["ack --failure 'card expired' -m INC-9 --dry-run", 'show which failures would be acknowledged'],
    ["ack --failure 'card expired' -m INC-9", 'show the streams, ask, then acknowledge all of them'],
    ['ls --acknowledged', 'failed streams, acknowledged or not'],
  ],
  leavesOut: ({ hasNewFailure }) => (hasNewFailure ? undefined : 'without an unacknowledged failure'),
  operation: () => ({ op: 'ack' }),
}

export function register(parent: Command, runtime: Runtime, go?: Run<BatchCommandOptions>): void {
  registerTransactCommand(parent, runtime, ACK, withReason(go))
}

/** The run file of `--rerun` has the reason of its run. */
function withReason(go: Run<BatchCommandOptions> = runTransactions(ACK)): Run<BatchCommandOptions> {
  return (options, runtime) => {
    if (options.reason === undefined && options.rerun === undefined) {
      throw new UsageError('ack needs a reason', { hint: 'Say with -m why the failures need no further attention.' })
    }
    return go(options, runtime)
  }
}

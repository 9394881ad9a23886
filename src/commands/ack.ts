import type { Command } from 'commander'
import type { Run } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { registerTransactCommand, runTransactions, withReason } from './batch/command.ts'
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
  whyReason: 'Say with -m why the failures need no further attention.',
  operation: () => ({ op: 'ack' }),
}

export function register(parent: Command, runtime: Runtime, go: Run<BatchCommandOptions> = runTransactions(ACK)): void {
  registerTransactCommand(parent, runtime, ACK, withReason(ACK, go))
}

import type { Command } from 'commander'
import type { Run } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { messageOf, registerTransactCommand } from './batch/command.ts'
import { ALREADY_FINAL, type BatchCommandOptions, type TransactCommand } from './batch/options.ts'

export const CANCEL: TransactCommand = {
  name: 'cancel',
  thirdPerson: 'cancels',
  pastParticiple: 'canceled',
  summary: "ends a stream, or one event with everything below it, as canceled: a user's wish",
  examples: [
    ['cancel orders/4711 -m "customer called"', 'the whole stream'],
    ['cancel orders/4711 -e 01.02.00', 'one event and what is open below it'],
    ["cancel --match 'import-17/**' --dry-run", 'which streams that would be'],
    ['cancel --match \'import-17/**\' -m "wrong import"', 'shows them, asks, then all of them'],
    ['cancel --rerun FILE --only busy', 'what a batch did not do, by the run file it named'],
  ],
  eventHelp: 'this event instead of the whole stream; may be repeated',
  leavesOut: ALREADY_FINAL,
  operation: (event, options) => ({ op: 'cancel', ...event, ...messageOf(options) }),
}

export function register(parent: Command, runtime: Runtime, go?: Run<BatchCommandOptions>): void {
  registerTransactCommand(parent, runtime, CANCEL, go)
}

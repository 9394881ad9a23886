import type { Command } from 'commander'
import type { Run } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { compensationOf, messageOf, registerEnd, undoing } from './batch/command.ts'
import { ALREADY_FINAL, type BatchCommandOptions, type TransactCommand } from './batch/options.ts'

export const CANCEL: TransactCommand = {
  name: 'cancel',
  thirdPerson: 'cancels',
  pastParticiple: 'canceled',
  summary: 'cancel a stream, or one event and everything below it',
  examples: [
    ['cancel orders/4711 -m "customer called"', 'the whole stream'],
    ['cancel orders/4711 -e 01.02.00', 'one event and the open events below it'],
    ["cancel --match 'import-17/**' --dry-run", 'show which streams would be canceled'],
    ['cancel --match \'import-17/**\' -m "wrong import"', 'show the streams, ask, then cancel all of them'],
    ['cancel --rerun FILE --only busy', 'finish a batch: the streams that were busy'],
  ],
  eventHelp: 'only this event; can be repeated',
  leavesOut: ALREADY_FINAL,
  report: undoing,
  operation: (event, options) => ({ op: 'cancel', ...event, ...messageOf(options), ...compensationOf(options) }),
}

export function register(parent: Command, runtime: Runtime, go?: Run<BatchCommandOptions>): void {
  registerEnd(parent, runtime, CANCEL, go)
}

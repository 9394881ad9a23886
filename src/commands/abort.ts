import type { Command } from 'commander'
import type { Run } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { compensationOf, messageOf, registerEnd, undoing } from './batch/command.ts'
import { ALREADY_FINAL, type BatchCommandOptions, type TransactCommand } from './batch/options.ts'

export const ABORT: TransactCommand = {
  name: 'abort',
  thirdPerson: 'aborts',
  pastParticiple: 'aborted',
  summary: 'force a stream or an event to fail (aborted); open events below it become canceled',
  examples: [
    ['abort orders/4711 -m "stuck since noon"', 'the whole stream'],
    ['abort orders/4711 -e 01.02.00', 'one event and the open events below it'],
    ["abort --overdue --match 'orders/**' --dry-run", 'show which streams would be aborted'],
  ],
  eventHelp: 'only this event; can be repeated',
  leavesOut: ALREADY_FINAL,
  report: undoing,
  operation: (event, options) => ({ op: 'abort', ...event, ...messageOf(options), ...compensationOf(options) }),
}

export function register(parent: Command, runtime: Runtime, go?: Run<BatchCommandOptions>): void {
  registerEnd(parent, runtime, ABORT, go)
}

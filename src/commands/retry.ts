import type { Command } from 'commander'
import type { Run } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { registerTransactCommand, runTransactions } from './batch/command.ts'
import type { BatchCommandOptions, TransactCommand } from './batch/options.ts'

export const RETRY: TransactCommand = {
  name: 'retry',
  thirdPerson: 'retries',
  pastParticiple: 'reopened',
  summary: 'reopen aborted and canceled events; without -e every failed leaf event that can be retried',
  examples: [
    ['retry orders/4711 -m "gateway is back"', 'every failed leaf event, in one transaction'],
    ['retry orders/4711 -e 03.00', 'one event'],
    ["retry --failed --match 'orders/**' --dry-run", 'show which streams would be retried'],
  ],
  eventHelp: 'only this event; can be repeated',
  leavesOut({ hasFailed, isCanceled }, { reopenCanceled = false }) {
    if (hasFailed || (isCanceled && reopenCanceled)) return undefined
    return isCanceled ? 'canceled (needs --canceled)' : 'without a failure'
  },
  isTriedFirst: true,
  operation: (event, { reopenCanceled }) => ({ op: 'retry', ...event, ...(reopenCanceled ? { canceled: true } : {}) }),
}

export function register(parent: Command, runtime: Runtime, go?: Run<BatchCommandOptions>): void {
  const command = registerTransactCommand(parent, runtime, RETRY, withCanceled(go))
  const flag = command.options.find(({ long }) => long === '--canceled')
  if (flag !== undefined) flag.description = 'reopen also what was canceled on request'
}

/** Of `retry` the flag is no filter: it says what to reopen of the streams that are selected. */
function withCanceled(go: Run<BatchCommandOptions> = runTransactions(RETRY)): Run<BatchCommandOptions> {
  return ({ canceled, ...options }, runtime) => go(canceled ? { ...options, reopenCanceled: true } : options, runtime)
}

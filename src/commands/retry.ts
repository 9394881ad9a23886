import type { Command } from 'commander'
import type { Run } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { registerOnStreams } from './batch/command.ts'
import type { OnStreams, OnStreamsOptions } from './batch/options.ts'

export const RETRY: OnStreams = {
  verb: 'retry',
  does: 'retries',
  word: 'reopened',
  summary: 'reopens aborted and canceled events; without -e all failed leaves that may be retried, at once',
  examples: [
    ['retry orders/4711 -m "gateway is back"', 'every failed leaf, in one transaction'],
    ['retry orders/4711 -e 03.00', 'one event'],
    ["retry --failed --match 'orders/**' --dry-run", 'which streams that would be'],
  ],
  eventHelp: 'reopen this event; may be repeated',
  operation: event => ({ op: 'retry', ...event }),
}

export function register(parent: Command, runtime: Runtime, go?: Run<OnStreamsOptions>): void {
  registerOnStreams(parent, runtime, RETRY, go)
}

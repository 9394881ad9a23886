import type { Command } from 'commander'
import { type Run, writes } from '../../cli/command.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { changeEvent } from './change-event.ts'
import { claimantOf, type EventOptions, eventCommand, msgOf, parseEvent } from './flags.ts'

export type FailOptions = EventOptions

export function register(parent: Command, runtime: Runtime, go: Run<FailOptions> = run): void {
  const description = {
    summary: 'ends an event as aborted with a message; what is open below becomes canceled',
    examples: [
      ['event fail orders/4711 01.02.00 --fence 41 -m "no answer from the shop"', 'with the error'],
      ['event fail orders/4711 01.02.00 --owner worker-7', 'by owner'],
    ],
  } as const
  writes(eventCommand(parent, 'fail'), runtime, description, parseEvent<FailOptions>, go)
}

export const run: Run<FailOptions> = async (options, runtime) => {
  const { event } = options
  const operation = { op: 'fail', event, ...msgOf(options), ...claimantOf(options, runtime) } as const
  return changeEvent(options, operation, 'failed', runtime)
}

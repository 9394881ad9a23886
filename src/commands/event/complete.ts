import type { Command } from 'commander'
import { type Run, writes } from '../../cli/command.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { changeEvent } from './change-event.ts'
import { claimantOf, type EventOptions, eventCommand, msgOf, parseEvent } from './flags.ts'

export type CompleteOptions = EventOptions

export function register(parent: Command, runtime: Runtime, go: Run<CompleteOptions> = run): void {
  const description = {
    summary: 'ends an event as completed; what it closes above closes too',
    examples: [
      ['event complete orders/4711 01.02.00 --fence 41 -m "12 results"', 'with a result'],
      ['event complete orders/4711 01.02.00 --owner worker-7', 'by owner'],
    ],
  } as const
  writes(eventCommand(parent, 'complete'), runtime, description, parseEvent<CompleteOptions>, go)
}

export const run: Run<CompleteOptions> = async (options, runtime) => {
  const { event } = options
  const operation = { op: 'complete', event, ...msgOf(options), ...claimantOf(options, runtime) } as const
  return changeEvent(options, operation, 'completed', runtime)
}

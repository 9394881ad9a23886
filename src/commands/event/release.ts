import type { Command } from 'commander'
import { type Run, writes } from '../../cli/command.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { changeEvent } from './change-event.ts'
import { claimantOf, type EventOptions, eventCommand, parseEvent } from './flags.ts'

export type ReleaseOptions = EventOptions

export function register(parent: Command, runtime: Runtime, go: Run<ReleaseOptions> = run): void {
  const description = {
    summary: 'hands an event back: init again, same attempt',
    examples: [
      ['event release orders/4711 01.02.00 --fence 41', 'another worker may start it'],
      ['event release orders/4711 01.02.00 --owner worker-7', 'by owner'],
    ],
  } as const
  writes(eventCommand(parent, 'release'), runtime, description, parseEvent<ReleaseOptions>, go)
}

export const run: Run<ReleaseOptions> = async (options, runtime) => {
  const { event } = options
  const operation = { op: 'release', event, ...claimantOf(options, runtime) } as const
  return changeEvent(options, operation, 'released', runtime)
}

import type { Command } from 'commander'
import { type Run, writes } from '../../cli/command.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { changeEvent } from './change-event.ts'
import { type ClaimOptions, claimantOf, claimFlag, claimMs, eventCommand, msgOf, parseEvent } from './flags.ts'

export type TouchOptions = ClaimOptions

export function register(parent: Command, runtime: Runtime, go: Run<TouchOptions> = run): void {
  const command = claimFlag(eventCommand(parent, 'touch'))
  const description = {
    summary: 'a sign of life: extends the claim; -m is the progress',
    examples: [
      ['event touch orders/4711 01.02.00 --fence 41', 'another 60 s'],
      ['event touch orders/4711 01.02.00 --fence 41 -m "40 of 100"', 'with progress'],
    ],
  } as const
  writes(command, runtime, description, parseEvent<TouchOptions>, go)
}

export const run: Run<TouchOptions> = async (options, runtime) => {
  const { event } = options
  const operation = {
    op: 'touch',
    event,
    claimMs: claimMs(options),
    ...msgOf(options),
    ...claimantOf(options, runtime),
  } as const
  return changeEvent(options, operation, 'touched', runtime)
}

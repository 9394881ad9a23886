import type { Command } from 'commander'
import { type Run, writes } from '../../cli/command.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { type ClaimOptions, claimFlag, claimMs, eventCommand, ownerOf, parseEvent } from './flags.ts'

export interface StartOptions extends ClaimOptions {
  readonly takeOver?: boolean
}

export function register(parent: Command, runtime: Runtime, go: Run<StartOptions> = run): void {
  const command = claimFlag(eventCommand(parent, 'start')).option(
    '--take-over',
    "even if a foreign worker's event has not outlived its time",
  )
  const description = {
    summary: 'claims an event for a worker; prints the fence, which proves the claim',
    examples: [
      ['event start orders/4711 01.02.00 --owner worker-7', 'for 60 s; touch it in time'],
      ['event start orders/4711 01.02.00 -q', 'the fence alone: fence=$(…)'],
    ],
  } as const
  writes(command, runtime, description, parseEvent<StartOptions>, go)
}

export const run: Run<StartOptions> = async (options, runtime) => {
  const { changeOne } = await import('./run.ts')
  const { stream, event, fence, takeOver } = options
  return changeOne(
    {
      stream,
      options,
      operation: {
        op: 'start',
        event,
        owner: ownerOf(options, runtime),
        claimMs: claimMs(options),
        ...(fence === undefined ? {} : { fence }),
        ...(takeOver ? { takeOver } : {}),
      },
      word: 'started',
      purpose: `event start ${event}`,
      quietText: ({ result }) => (result.claim === undefined ? '' : `${result.claim.fence}\n`),
    },
    runtime,
  )
}

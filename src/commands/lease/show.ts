import type { Command } from 'commander'
import type { Run } from '../../cli/command.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { type LeaseOptions, leaseAction, leaseCommand } from './flags.ts'

export type ShowLeaseOptions = LeaseOptions

export function register(parent: Command, runtime: Runtime, go: Run<ShowLeaseOptions> = run): void {
  const description = {
    kind: 'reads',
    summary: 'who holds the lease of a stream, since when and what for',
    examples: [
      ['lease show orders/4711', 'in one line'],
      ['lease show orders/4711 -o json', 'for scripts'],
    ],
    formats: ['text', 'json'],
  } as const
  leaseAction(leaseCommand(parent, 'show'), runtime, description, go)
}

export const run: Run<ShowLeaseOptions> = async (options, runtime) => {
  const { showLease } = await import('./run-show.ts')
  return showLease(options, runtime)
}

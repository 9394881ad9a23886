import type { Command } from 'commander'
import type { Run } from '../../cli/command.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { type HeldLeaseOptions, heldLease, leaseAction, leaseCommand } from './flags.ts'

export type ReleaseLeaseOptions = HeldLeaseOptions

export function register(parent: Command, runtime: Runtime, go: Run<ReleaseLeaseOptions> = run): void {
  const description = {
    kind: 'writes',
    summary: 'gives a lease back',
    examples: [['lease release orders/4711 --lease-id $id', 'others may write at once']],
    formats: ['text', 'json'],
  } as const
  leaseAction(heldLease(leaseCommand(parent, 'release')), runtime, description, go)
}

export const run: Run<ReleaseLeaseOptions> = async (options, runtime) => {
  const { changeLease } = await import('./run-held.ts')
  return changeLease(options, 'released', store => store.release(options.stream, options.leaseId), runtime)
}

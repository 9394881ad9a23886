import type { Command } from 'commander'
import type { Run } from '../../cli/command.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { type HeldLeaseOptions, heldLease, leaseAction, leaseCommand } from './flags.ts'

export type RenewLeaseOptions = HeldLeaseOptions

export function register(parent: Command, runtime: Runtime, go: Run<RenewLeaseOptions> = run): void {
  const description = {
    kind: 'writes',
    summary: 'starts the time of a lease anew',
    examples: [['lease renew orders/4711 --lease-id $id', 'another 60 s']],
    formats: ['text', 'json'],
  } as const
  leaseAction(heldLease(leaseCommand(parent, 'renew')), runtime, description, go)
}

export const run: Run<RenewLeaseOptions> = async (options, runtime) => {
  const { changeLease } = await import('./run-held.ts')
  return changeLease(options, 'renewed', store => store.renew(options.stream, options.leaseId), runtime)
}

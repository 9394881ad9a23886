import { type Command, Option } from 'commander'
import type { Run } from '../../cli/command.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { leaseId } from '../../cli/values.ts'
import { type HeldLeaseOptions, heldLease, leaseAction, leaseCommand } from './flags.ts'

export interface ChangeLeaseOptions extends HeldLeaseOptions {
  readonly newId?: string
}

export function register(parent: Command, runtime: Runtime, go: Run<ChangeLeaseOptions> = run): void {
  const command = heldLease(leaseCommand(parent, 'change')).addOption(
    new Option('--new-id <id>', 'the new id (default: a fresh one)').argParser(leaseId('--new-id')),
  )
  const description = {
    kind: 'writes',
    summary: 'gives a lease another id and prints it: whoever knew the old one has lost it',
    examples: [['lease change orders/4711 --lease-id $id', 'prints the new id']],
    formats: ['text', 'json'],
  } as const
  leaseAction(command, runtime, description, go)
}

export const run: Run<ChangeLeaseOptions> = async (options, runtime) => {
  const { changeLease } = await import('./run-held.ts')
  const newId = options.newId ?? runtime.newId()
  return changeLease(options, 'changed', store => store.change(options.stream, options.leaseId, newId), runtime)
}

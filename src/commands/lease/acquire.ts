import { type Command, Option } from 'commander'
import type { Run } from '../../cli/command.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { leaseId, requiredText, storedText } from '../../cli/values.ts'
import { holderOf, type LeaseOptions, leaseAction, leaseCommand } from './flags.ts'
import { leaseDuration } from './values.ts'

export interface AcquireLeaseOptions extends LeaseOptions {
  /** Seconds; -1 is infinite. */
  readonly duration?: number
  readonly leaseId?: string
  readonly reason?: string
  readonly by?: string
}

export function register(parent: Command, runtime: Runtime, go: Run<AcquireLeaseOptions> = run): void {
  const command = leaseCommand(parent, 'acquire')
    .addOption(new Option('--duration <duration>', '15s to 60s, or infinite (default: 60s)').argParser(leaseDuration))
    .addOption(
      new Option('--lease-id <id>', 'propose this id; repeating with the same one is safe').argParser(
        leaseId('--lease-id'),
      ),
    )
    .addOption(new Option('-m, --reason <text>', 'what for: others see it').argParser(storedText('-m', 'reason')))
    .addOption(new Option('--by <actor>', 'who holds it (default: user@host)').argParser(requiredText('--by')))
  const description = {
    kind: 'writes',
    summary: 'takes the lease of a stream and prints its id',
    examples: [
      ['lease acquire orders/4711', 'prints the id: id=$(…)'],
      ['lease acquire orders/4711 --duration infinite -m "repair"', 'until it is released or broken'],
    ],
    formats: ['text', 'json'],
  } as const
  leaseAction(command, runtime, description, go)
}

const DEFAULT_DURATION_S = 60

export const run: Run<AcquireLeaseOptions> = async (options, runtime) => {
  const { acquireLease } = await import('./run.ts')
  const purpose = options.reason ?? 'lease acquire'
  return acquireLease(
    {
      ...options,
      leaseId: options.leaseId ?? runtime.newId(),
      durationS: options.duration ?? DEFAULT_DURATION_S,
      holder: holderOf(options, purpose, runtime),
    },
    runtime,
  )
}

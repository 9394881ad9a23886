import { type Command, Option } from 'commander'
import type { Run } from '../../cli/command.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { BreakLeaseOptions } from './break-lease.ts'
import { leaseAction, leaseCommand } from './flags.ts'
import { breakPeriod } from './values.ts'

export function register(parent: Command, runtime: Runtime, go: Run<BreakLeaseOptions> = run): void {
  const command = leaseCommand(parent, 'break')
    .addOption(
      new Option('--period <duration>', '0s to 60s until the lease ends (default: 0s, at once)').argParser(breakPeriod),
    )
    .option('--yes', "do not ask for the stream's name")
  const description = {
    kind: 'writes',
    summary: "ends another's lease; what its holder is doing is lost. Asks for the stream's name",
    examples: [
      ['lease show orders/4711', 'look first: who holds it, since when and what for'],
      ['lease break orders/4711', 'asks, then ends it at once'],
      ['lease break orders/4711 --yes --period 10s', 'for scripts; the holder has ten seconds'],
    ],
    formats: ['text', 'json'],
  } as const
  leaseAction(command, runtime, description, go)
}

export const run: Run<BreakLeaseOptions> = async (options, runtime) => {
  const { breakLease } = await import('./break-lease.ts')
  return breakLease(options, runtime)
}

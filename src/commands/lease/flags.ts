import { type Command, Option } from 'commander'
import { streamName } from '../../cli/arguments.ts'
import { act, type Description, describe, parsed, type Run } from '../../cli/command.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { leaseId } from '../../cli/values.ts'
import type { Holder } from '../../store/store.ts'

export interface LeaseOptions extends GlobalOptions {
  readonly stream: string
}

/** For commands that act on a lease one holds. */
export interface HeldLeaseOptions extends LeaseOptions {
  readonly leaseId: string
}

/** `lease NAME STREAM`. */
export function leaseCommand(parent: Command, name: string): Command {
  return parent.command(name).argument('<STREAM>', 'name of the stream', streamName)
}

/** Adds `--lease-id`, which renew, change and release cannot do without. */
export function heldLease(command: Command): Command {
  return command.addOption(
    new Option('--lease-id <id>', 'the id that acquire printed').argParser(leaseId('--lease-id')).makeOptionMandatory(),
  )
}

/** A command on the lease itself. */
export function leaseAction<Options extends LeaseOptions>(
  command: Command,
  runtime: Runtime,
  description: Description,
  run: Run<Options>,
): void {
  const effect = description.kind === 'writes' ? { effect: 'Writes: changes the lease, not the stream.' } : {}
  describe(command, runtime, { ...description, ...effect })
  act(command, runtime, description.kind, parseLease<Options>, run)
}

function parseLease<Options extends LeaseOptions>(command: Command): Options {
  return parsed<Options>(command, ['stream'])
}

/** What others see of the holder. */
export function holderOf({ by }: { readonly by?: string }, purpose: string, runtime: Runtime): Holder {
  return { by: by ?? runtime.actor, host: runtime.host, pid: runtime.pid, purpose, sinceMs: runtime.nowMs() }
}

import { type Command, Option } from 'commander'
import { act, type Description, describe, parsed, type Run } from '../../cli/command.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import { UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { duration, leaseId, streamName } from '../../cli/values.ts'
import type { Holder } from '../../store/store.ts'

/** Options of a command for one lease: that of a stream, or that of the container. */
export interface LeaseOptions extends GlobalOptions {
  readonly stream?: string
  readonly ofContainer?: boolean
}

/** Options of commands that act on a lease held by the caller. */
export interface HeldLeaseOptions extends LeaseOptions {
  readonly leaseId: string
}

/** `lease NAME STREAM`, or `lease NAME --of-container`. */
export function leaseCommand(parent: Command, name: string): Command {
  return ofContainer(parent.command(name).argument('[STREAM]', 'name of the stream', streamName))
}

/** Adds `--of-container`. */
export function ofContainer(command: Command): Command {
  return command.option(
    '--of-container',
    'the lease of the container itself, on Azure: it keeps others from deleting the container, and from nothing else',
  )
}

/** Adds `--lease-id`, which renew, change and release require. */
export function heldLease(command: Command): Command {
  return command.addOption(
    new Option('--lease-id <id>', 'lease id printed by acquire').argParser(leaseId('--lease-id')).makeOptionMandatory(),
  )
}

/** Declares a command that acts on the lease itself. */
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
  const { stream, ...options } = parsed<Options>(command, ['stream'])
  if (stream !== undefined && options.ofContainer)
    throw new UsageError('a stream and --of-container name two leases', { hint: 'Give one of them.' })
  if (stream === undefined && !options.ofContainer)
    throw new UsageError('the name of the stream is missing', {
      hint: 'Or --of-container, for the lease of the container.',
    })
  return { ...options, ...(stream === undefined ? {} : { stream }) } as Options
}

/** The holder as others see it. */
export function holderOf({ by }: { readonly by?: string }, purpose: string, runtime: Runtime): Holder {
  return { by: by ?? runtime.actor, host: runtime.host, pid: runtime.pid, purpose, sinceMs: runtime.nowMs() }
}

/** Parses the duration of a lease in seconds: 15 to 60, or -1 for an infinite lease. */
export function leaseDuration(text: string): number {
  if (text === 'infinite') return -1
  const seconds = duration('--duration')(text) / 1000
  if (Number.isInteger(seconds) && seconds >= 15 && seconds <= 60) return seconds
  throw new UsageError(`--duration ${text}: a lease lasts 15s to 60s`, { hint: 'or --duration infinite' })
}

/** Parses a break period, 0 to 60 whole seconds. */
export function breakPeriod(text: string): number {
  const seconds = duration('--period', { zero: true })(text) / 1000
  if (Number.isInteger(seconds) && seconds <= 60) return seconds
  throw new UsageError(`--period ${text}: at most 60s, in whole seconds`, { hint: '--period 0s breaks it at once' })
}

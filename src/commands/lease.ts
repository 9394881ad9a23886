import { type Command, Option } from 'commander'
import { describeGroup, parsed, type Run, reads } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { duration, leaseId, pattern, requiredText, storedText } from '../cli/values.ts'
import type { BreakCommandOptions } from './lease/break-lease.ts'
import {
  breakPeriod,
  type HeldLeaseOptions,
  heldLease,
  holderOf,
  type LeaseOptions,
  leaseAction,
  leaseCommand,
  leaseDuration,
} from './lease/flags.ts'
import type { ListLeasesOptions } from './lease/list.ts'

/** `lease …`: inspects and manages leases. */
export function register(parent: Command, runtime: Runtime): void {
  const group = parent.command('lease').usage('COMMAND …')
  describeGroup(group, runtime, {
    summary: 'manage leases: ls, show, acquire, renew, change, release, break',
    description: 'Inspect and manage leases. While a stream is leased, only the holder of the lease can change it.',
    examples: [
      ['lease ls', 'all leases with their holders'],
      ['lease show orders/4711', 'the lease of one stream'],
      ['lease break orders/4711', 'end the lease of another holder; asks first'],
    ],
  })
  for (const registerIn of [
    registerLs,
    registerShow,
    registerAcquire,
    registerRenew,
    registerChange,
    registerRelease,
    registerBreak,
  ])
    registerIn(group, runtime)
}

export interface AcquireCommandOptions extends LeaseOptions {
  /** Seconds; -1 is infinite. */
  readonly duration?: number
  readonly leaseId?: string
  readonly reason?: string
  readonly by?: string
}

export function registerAcquire(parent: Command, runtime: Runtime, go: Run<AcquireCommandOptions> = runAcquire): void {
  const command = leaseCommand(parent, 'acquire')
    .addOption(new Option('--duration <duration>', '15s to 60s, or infinite (default: 60s)').argParser(leaseDuration))
    .addOption(
      new Option('--lease-id <id>', 'use this id; acquiring again with the same id is safe').argParser(
        leaseId('--lease-id'),
      ),
    )
    .addOption(new Option('-m, --reason <text>', 'purpose, shown to others').argParser(storedText('-m', 'reason')))
    .addOption(new Option('--by <actor>', 'holder of the lease (default: user@host)').argParser(requiredText('--by')))
  const description = {
    kind: 'writes',
    summary: 'acquire the lease of a stream and print its id',
    examples: [
      ['lease acquire orders/4711', 'prints the id: id=$(…)'],
      ['lease acquire orders/4711 --duration infinite -m "repair"', 'until it is released or broken'],
    ],
    formats: ['text', 'json'],
  } as const
  leaseAction(command, runtime, description, go)
}

const DEFAULT_DURATION_S = 60

const runAcquire: Run<AcquireCommandOptions> = async (options, runtime) => {
  const { acquireLease } = await import('./lease/run.ts')
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

export function registerBreak(parent: Command, runtime: Runtime, go: Run<BreakCommandOptions> = runBreak): void {
  const command = leaseCommand(parent, 'break')
    .addOption(
      new Option('--period <duration>', 'time until the lease ends, 0s to 60s (default: 0s, at once)').argParser(
        breakPeriod,
      ),
    )
    .option('--yes', 'do not ask for the name of the stream')
  const description = {
    kind: 'writes',
    summary: 'break the lease of another holder, whose unfinished work is lost; asks for the name of the stream',
    examples: [
      ['lease show orders/4711', 'first check the holder, its purpose and since when'],
      ['lease break orders/4711', 'ask, then end it at once'],
      ['lease break orders/4711 --yes --period 10s', 'for scripts; the holder has ten seconds'],
    ],
    formats: ['text', 'json'],
  } as const
  leaseAction(command, runtime, description, go)
}

const runBreak: Run<BreakCommandOptions> = async (...given) =>
  (await import('./lease/break-lease.ts')).breakLease(...given)

export interface ChangeLeaseOptions extends HeldLeaseOptions {
  readonly newId?: string
}

export function registerChange(parent: Command, runtime: Runtime, go: Run<ChangeLeaseOptions> = runChange): void {
  const command = heldLease(leaseCommand(parent, 'change')).addOption(
    new Option('--new-id <id>', 'new id (default: a random one)').argParser(leaseId('--new-id')),
  )
  const description = {
    kind: 'writes',
    summary: 'change the id of a lease and print the new one; the old id becomes invalid',
    examples: [['lease change orders/4711 --lease-id $id', 'prints the new id']],
    formats: ['text', 'json'],
  } as const
  leaseAction(command, runtime, description, go)
}

const runChange: Run<ChangeLeaseOptions> = async (options, runtime) => {
  const { changeLease } = await import('./lease/run.ts')
  const newId = options.newId ?? runtime.newId()
  return changeLease(options, 'changed', store => store.changeLeaseId(options.stream, options.leaseId, newId), runtime)
}

export function registerLs(parent: Command, runtime: Runtime, go: Run<ListLeasesOptions> = runLs): void {
  const command = parent
    .command('ls')
    .alias('list')
    .addOption(
      new Option(
        '--match <glob>',
        'glob over the whole name: * stops at a /, ** does not; also ? [a-z] [!a-z] {a,b}',
      ).argParser(pattern('--match')),
    )
    .addOption(
      new Option(
        '--stale [duration]',
        'only leases that look abandoned, and why: held for longer than this (default: 5m); infinite with an unknown ' +
          'holder; held for over a minute by a process of this host that no longer runs, as after lease acquire',
      ).argParser(duration('--stale')),
    )
  const description = {
    summary: 'list leases: holder, since when, purpose',
    examples: [
      ['lease ls', 'all leases that are held'],
      ['lease ls --stale', 'leases that look abandoned'],
      ["lease ls --match 'orders/**' -o json", 'for scripts'],
    ],
    formats: ['table', 'json', 'ndjson'],
  } as const
  reads(command, runtime, description, parse, go)
}

/** The default of `--stale`. */
const STALE_AFTER_MS = 5 * 60_000

function parse(command: Command): ListLeasesOptions {
  const { stale, ...options } = parsed<Omit<ListLeasesOptions, 'stale'> & { stale?: number | true }>(command, [])
  return stale === undefined ? options : { ...options, stale: stale === true ? STALE_AFTER_MS : stale }
}

const runLs: Run<ListLeasesOptions> = async (...given) => (await import('./lease/list.ts')).listLeases(...given)

export type ReleaseLeaseOptions = HeldLeaseOptions

export function registerRelease(parent: Command, runtime: Runtime, go: Run<ReleaseLeaseOptions> = runRelease): void {
  const description = {
    kind: 'writes',
    summary: 'release a lease',
    examples: [['lease release orders/4711 --lease-id $id', 'others can write at once']],
    formats: ['text', 'json'],
  } as const
  leaseAction(heldLease(leaseCommand(parent, 'release')), runtime, description, go)
}

const runRelease: Run<ReleaseLeaseOptions> = async (options, runtime) => {
  const { changeLease } = await import('./lease/run.ts')
  return changeLease(options, 'released', store => store.releaseLease(options.stream, options.leaseId), runtime)
}

export type RenewLeaseOptions = HeldLeaseOptions

export function registerRenew(parent: Command, runtime: Runtime, go: Run<RenewLeaseOptions> = runRenew): void {
  const description = {
    kind: 'writes',
    summary: 'renew a lease: its time starts again',
    examples: [['lease renew orders/4711 --lease-id $id', 'another 60 s']],
    formats: ['text', 'json'],
  } as const
  leaseAction(heldLease(leaseCommand(parent, 'renew')), runtime, description, go)
}

const runRenew: Run<RenewLeaseOptions> = async (options, runtime) => {
  const { changeLease } = await import('./lease/run.ts')
  return changeLease(options, 'renewed', store => store.renewLease(options.stream, options.leaseId), runtime)
}

export type ShowLeaseOptions = LeaseOptions

export function registerShow(parent: Command, runtime: Runtime, go: Run<ShowLeaseOptions> = runShow): void {
  const description = {
    kind: 'reads',
    summary: 'show the lease of a stream: holder, since when, purpose',
    examples: [
      ['lease show orders/4711', 'in one line'],
      ['lease show orders/4711 -o json', 'for scripts'],
    ],
    formats: ['text', 'json'],
  } as const
  leaseAction(leaseCommand(parent, 'show'), runtime, description, go)
}

const runShow: Run<ShowLeaseOptions> = async (...given) => (await import('./lease/run.ts')).showLease(...given)

import { type Command, Option } from 'commander'
import { describeGroup, type Run, reads } from '../cli/command.ts'
import { everyBreak } from '../cli/options.ts'
import type { Runtime } from '../cli/runtime.ts'
import { duration, leaseId, pattern, requiredText, storedText, streamNames } from '../cli/values.ts'
import { RUN_FILES, registerBatch } from './batch/command.ts'
import type { BatchCommandOptions } from './batch/options.ts'
import {
  breakPeriod,
  type HeldLeaseOptions,
  heldLease,
  holderOf,
  type LeaseOptions,
  leaseAction,
  leaseCommand,
  leaseDuration,
  ofContainer,
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
      ['lease break orders/4711 -m "worker-7 is gone"', 'end the lease of another holder; asks first'],
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
      [
        'lease acquire --of-container --duration infinite',
        'nobody can delete the container; streams are written as before',
      ],
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

const BREAK_NOTES = `
The break is an entry in the journal of the stream and in the audit log of the store (log --audit). A document that
leasectl has never written stays as it is: then only the audit log has the break. With --period the stream cannot be
written before the lease has ended: only a longer --lease-wait waits for that and makes the journal entry.
With --of-container no stream is written: the break is in the audit log alone.
`

export function registerBreak(parent: Command, runtime: Runtime, go: Run<BatchCommandOptions> = runBreak): void {
  const command = parent
    .command('break')
    .argument('[STREAM...]', 'names of streams', streamNames)
    .addOption(
      staleOption(
        'only leases that look abandoned, as lease ls --stale lists them: held for longer than this (default: 5m), or ' +
          'stale for another reason',
      ),
    )
    .addOption(
      new Option('--period <duration>', 'time until the lease ends, 0s to 60s (default: 0s, at once)').argParser(
        breakPeriod,
      ),
    )
  ofContainer(command)
  command.addHelpText('after', BREAK_NOTES)
  const description = {
    summary: 'break leases of other holders, whose unfinished work is lost; always asks',
    examples: [
      ['lease show orders/4711', 'first check the holder, its purpose and since when'],
      ['lease break orders/4711 -m "worker-7 is gone"', 'ask, then end it at once'],
      ['lease break orders/4711 --yes --period 10s', 'for scripts; the holder has ten seconds'],
      ['lease break --stale --dry-run', 'show which leases look abandoned'],
      ["lease break --stale --match 'orders/**' --yes --expect 12", 'break exactly these twelve'],
    ],
    effect: `Writes: breaks the lease of each stream, and records it in its journal. ${RUN_FILES}`,
  } as const
  registerBatch(command, runtime, description, go, everyBreak)
}

const runBreak: Run<BatchCommandOptions> = async (options, runtime) =>
  options.ofContainer
    ? (await import('./lease/break-container.ts')).breakContainerLease(options, runtime)
    : (await import('./lease/break-lease.ts')).breakLeases(options, runtime)

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
  return changeLease(options, 'changed', subject => subject.change(options.leaseId, newId), runtime)
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
      staleOption(
        'only leases that look abandoned, and why: held for longer than this (default: 5m); infinite with an unknown ' +
          'holder; held for over a minute by a process of this host that no longer runs, as after lease acquire',
      ),
    )
  const description = {
    summary: 'list leases: holder, since when, purpose',
    examples: [
      ['lease ls', 'all leases that are held'],
      ['lease ls --stale', 'leases that look abandoned'],
      ["lease ls --match 'orders/**' -o json", 'for scripts'],
      ['lease ls --stale -o name', 'only the names'],
    ],
    formats: ['table', 'json', 'ndjson', 'csv', 'name'],
  } as const
  reads(command, runtime, description, [], go)
}

function staleOption(help: string): Option {
  return new Option('--stale [duration]', help).preset('5m').argParser(duration('--stale'))
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
  return changeLease(options, 'released', subject => subject.release(options.leaseId), runtime)
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
  return changeLease(options, 'renewed', subject => subject.renew(options.leaseId), runtime)
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

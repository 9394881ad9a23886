import { heldProblem, missingProblem, unknownProblem } from '../../cli/outcome-problem.ts'
import { CommandFailed, type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { orNull } from '../../formats/json.ts'
import { leaseJson } from '../../formats/lease.ts'
import type {
  AcquireOptions,
  AcquireOutcome,
  ContainerLease,
  LeaseOutcome,
  LeaseView,
  StreamStore,
} from '../../store/store.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import type { LeaseOptions } from './flags.ts'

/** A lease as any reader sees it, with the actor of the last write. */
export interface SeenLease {
  readonly lease: LeaseView
  readonly lastBy?: string | undefined
}

/** What the lease commands act on: a stream, or the container of the store. */
export interface LeaseSubject {
  /** Safe to print. */
  readonly label: string
  /** The fields that name it in JSON. */
  readonly fields: { readonly stream: string } | { readonly stream: null; readonly container: string }
  /** `undefined`: it does not exist. */
  view(signal: AbortSignal): Promise<SeenLease | undefined>
  acquire(options: AcquireOptions): Promise<AcquireOutcome>
  renew(leaseId: string): Promise<LeaseOutcome>
  change(leaseId: string, newId: string): Promise<LeaseOutcome>
  release(leaseId: string): Promise<LeaseOutcome>
  missing(): Problem
  held(outcome: Extract<AcquireOutcome, { kind: 'held' }>): Problem
  lost(facts: Problem['facts']): Problem
  unknown(cause: unknown): Problem
}

/** @throws CommandFailed for `--of-container` on a store that is not a container */
export function subjectOf({ stream, ofContainer }: LeaseOptions, store: StreamStore, runtime: Runtime): LeaseSubject {
  if (ofContainer) return containerSubject(containerLeaseOf(store), runtime)
  if (stream === undefined) throw new Error('a lease command has neither a stream nor --of-container')
  return streamSubject(stream, store, runtime)
}

/** The lease of the container. @throws CommandFailed `not-supported` on a store that is not one */
export function containerLeaseOf({ containerLease, address }: StreamStore): ContainerLease {
  if (containerLease !== undefined) return containerLease
  throw new CommandFailed(
    problem(
      'not-supported',
      `${address} is not a container: only a container of Azure Storage has a lease of its own`,
      {
        hint: 'Without --of-container the command takes the name of a stream.',
      },
    ),
  )
}

function streamSubject(stream: string, store: StreamStore, runtime: Runtime): LeaseSubject {
  return {
    label: visibleName(stream),
    fields: { stream },
    view: async signal => {
      const stored = await store.read(stream, signal)
      return stored && { lease: stored.lease, lastBy: stored.summary?.lastBy }
    },
    acquire: options => store.acquireLease(stream, { ...options, record: true }),
    renew: leaseId => store.renewLease(stream, leaseId),
    change: (leaseId, newId) => store.changeLeaseId(stream, leaseId, newId),
    release: leaseId => store.releaseLease(stream, leaseId),
    missing: () => missingProblem(stream),
    held: ({ lease, lastBy }) => {
      // Acquire does not wait, so the advice to wait longer would be wrong.
      const { tryCommand: _, ...held } = heldProblem(stream, lease, 0, lastBy, runtime)
      return { ...held, message: `${stream} is already leased`, facts: (held.facts ?? []).slice(0, 1) }
    },
    lost: facts =>
      problem('lease-lost', `the given lease is not the lease of ${stream}`, { stream, ...(facts && { facts }) }),
    unknown: cause => unknownProblem(stream, undefined, cause, runtime),
  }
}

function containerSubject(lease: ContainerLease, runtime: Runtime): LeaseSubject {
  const name = `the container ${lease.container}`
  return {
    label: visibleText(name),
    fields: { stream: null, container: lease.container },
    view: async signal => ({ lease: await lease.view(signal) }),
    acquire: options => lease.acquire(options),
    renew: leaseId => lease.renew(leaseId),
    change: (leaseId, newId) => lease.change(leaseId, newId),
    release: leaseId => lease.release(leaseId),
    missing: () => problem('container-missing', `there is no container ${lease.container}`),
    held: ({ lease: { duration } }) =>
      problem('lease-held', `${name} is already leased`, {
        hint:
          duration === 'infinite'
            ? 'It never expires. lease break --of-container ends it.'
            : 'It ends within a minute unless its holder renews it.',
      }),
    lost: facts => problem('lease-lost', `the given lease is not the lease of ${name}`, facts && { facts }),
    unknown: cause => {
      const { message: _, stream: __, ...more } = unknownProblem(name, undefined, cause, runtime)
      return { ...more, message: `the store did not answer: the lease of ${name} may or may not have been changed` }
    },
  }
}

/** The lease as JSON. Fields are only ever added. The lease id is given to its holder only. */
export function leaseFields(fields: LeaseSubject['fields'], { lease, lastBy }: SeenLease, leaseId?: string) {
  const { state, duration, until, holder } = leaseJson(lease)
  return { ...fields, state, leaseId: orNull(leaseId), duration, until, holder, lastBy: orNull(lastBy) }
}

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { EventStore, Holder } from '../../store/store.ts'
import type { Authorship } from '../../stream/operations/operation.ts'
import type { Pin } from '../../stream/precondition.ts'
import { type CommitOutcome, commit } from './commit.ts'
import { commitQueue } from './commit-queue.ts'
import type { PlannedOperation } from './plan.ts'
import { StreamReplaced } from './stream-replaced.ts'
import type { TransactOptions, TransactOutcome } from './types.ts'

const DEFAULT_LEASE_WAIT_MS = 10_000

/**
 * Puts a change into the queue of its stream, in this process, and waits until what became of it is durable.
 *
 * @param alone never written together with others
 */
export async function enqueue(
  store: EventStore,
  name: string,
  planned: PlannedOperation,
  options: TransactOptions,
  alone: boolean,
): Promise<TransactOutcome> {
  const queue = commitQueue(store, name)
  const outcome = await queue.add(planned, {
    alone,
    key: `${options.leaseId ?? ''} ${options.write ?? ''} ${options.leaseWaitMs ?? DEFAULT_LEASE_WAIT_MS}`,
    // Who holds the lease waits for nobody, least of all behind one who waits for that very lease.
    waitMs: options.leaseId === undefined ? (options.leaseWaitMs ?? DEFAULT_LEASE_WAIT_MS) : 0,
    signal: options.signal,
    stopWaiting: options.stopWaiting,
    commit: (group, how) =>
      commit(store, name, group, { ...changeOptions(options, group, Date.now()), ...how }, queue.written),
  })
  return report(name, planned, outcome)
}

/** The authorship among other options. */
export function authorIn({ commandId, by, why }: Authorship): Authorship {
  return { commandId, by, ...(why === undefined ? {} : { why }) }
}

/** What tells the entries of one call from those of others with its command id. 32 bits: two calls in four thousand million are alike. */
export function newNonce(): string {
  return randomUUID().slice(0, 8)
}

/** The pin among other options. */
export function pinIn({ ifVersion, ifBorn, ifSum }: Pin): Pin {
  return {
    ...(ifVersion === undefined ? {} : { ifVersion }),
    ...(ifBorn === undefined ? {} : { ifBorn }),
    ...(ifSum === undefined ? {} : { ifSum }),
  }
}

function changeOptions(options: TransactOptions, group: readonly PlannedOperation[], sinceMs: number) {
  const holder: Holder = {
    by: options.by,
    host: thisHost(),
    pid: process.pid,
    purpose: group.length === 1 ? (options.purpose ?? describe(group[0])) : `${group.length} changes`,
    sinceMs,
  }
  return {
    holder,
    ...(options.leaseId === undefined ? {} : { leaseId: options.leaseId }),
    ...(options.write === undefined ? {} : { write: options.write }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  }
}

let host: string | undefined

/** Asked once: it is a system call. */
export function thisHost(): string {
  host ??= hostname()
  return host
}

function describe(planned: PlannedOperation | undefined): string {
  if (planned === undefined) return ''
  const { operation } = planned
  return 'event' in operation && operation.event !== undefined ? `${operation.op} ${operation.event}` : operation.op
}

function report(name: string, planned: PlannedOperation, outcome: CommitOutcome): TransactOutcome {
  const { commandId } = planned.author
  switch (outcome.kind) {
    case 'settled':
      break
    case 'unknown':
      return { ...outcome, commandId }
    case 'missing':
    case 'held':
    case 'lost':
      return outcome
    default:
      return outcome satisfies never
  }
  const { applied } = planned
  if (applied === undefined) throw new Error('a committed group has planned each of its operations')
  if (applied.kind === 'failed') throw applied.error
  if (applied.kind === 'replaced') {
    const cause = new StreamReplaced(`${name} was removed meanwhile, and another stream has its name now`)
    return { kind: 'unknown', commandId, cause }
  }
  if (applied.kind === 'refused') return { kind: 'refused', refusal: applied.refusal, commandId }
  return { kind: 'done', result: applied.result, commandId }
}

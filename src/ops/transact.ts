import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { EventStore, Holder } from '../store/store.ts'
import type { Operation } from '../stream/operation.ts'
import type { Pin } from '../stream/pin.ts'
import { checkOperation } from './check-operation.ts'
import { type CommitOutcome, commit } from './commit.ts'
import { commitQueue } from './commit-queue.ts'
import type { PlannedOperation } from './plan.ts'
import type { TransactOptions, TransactOutcome } from './transact-types.ts'

const DEFAULT_LEASE_WAIT_MS = 10_000

/**
 * One change of one stream: read, apply, write once, under the lease. It lands whole or not at all.
 *
 * Changes of the same stream that are asked for at the same time in this process queue up and are written together;
 * each remains a transaction with its own version and outcome, reported only after its write is committed.
 * Repeating with the same `commandId` is safe: the change is made once.
 *
 * @returns done, refused, missing, held, lost or unknown; see `TransactOutcome`
 * @throws BadDocument the document cannot be read (it stays as it is); InvalidValue a text or id that can never be
 * right; NotPermitted, ContainerMissing, StoreUnreachable, StoreDamaged, StoreFull from the store: nothing was applied
 */
export async function transact(
  store: EventStore,
  name: string,
  operation: Operation,
  options: TransactOptions,
): Promise<TransactOutcome> {
  checkOperation(name, operation, options)
  options.signal?.throwIfAborted()
  const planned: PlannedOperation = {
    operation,
    author: {
      commandId: options.commandId,
      by: options.by,
      ...(options.why === undefined ? {} : { why: options.why }),
    },
    pin: pinIn(options),
    born: randomUUID(),
    applied: undefined,
    sent: false,
  }
  const outcome = await commitQueue(store, name).add(planned, {
    alone: operation.op === 'init',
    key: `${options.leaseId ?? ''} ${options.write ?? ''} ${options.leaseWaitMs ?? DEFAULT_LEASE_WAIT_MS}`,
    // Who holds the lease waits for nobody, least of all behind one who waits for that very lease.
    waitMs: options.leaseId === undefined ? (options.leaseWaitMs ?? DEFAULT_LEASE_WAIT_MS) : 0,
    signal: options.signal,
    stopWaiting: options.stopWaiting,
    commit: (group, how) => commit(store, name, group, { ...changeOptions(options, group, Date.now()), ...how }),
  })
  const reported = report(planned, outcome)
  if (reported.kind === 'done' && !reported.result.duplicate) await options.afterWrite?.(reported.result)
  return reported
}

function pinIn({ ifVersion, ifBorn, ifSum }: Pin): Pin {
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
function thisHost(): string {
  host ??= hostname()
  return host
}

function describe(planned: PlannedOperation | undefined): string {
  if (planned === undefined) return ''
  const { operation } = planned
  return 'event' in operation && operation.event !== undefined ? `${operation.op} ${operation.event}` : operation.op
}

function report(planned: PlannedOperation, outcome: CommitOutcome): TransactOutcome {
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
  if (applied.kind === 'refused') return { kind: 'refused', refusal: applied.refusal, commandId }
  return { kind: 'done', result: applied.result, commandId }
}

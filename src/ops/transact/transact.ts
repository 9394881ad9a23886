import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { StreamReplaced } from '../../store/errors.ts'
import { checkStreamName } from '../../store/names.ts'
import type { LeaseAttempt, LeaseView, StreamStore, WriteMode } from '../../store/store.ts'
import { checkData, type EventData } from '../../stream/data.ts'
import { InvalidValue } from '../../stream/errors.ts'
import type { Precondition } from '../../stream/operations/apply.ts'
import {
  type Authorship,
  type ChangeResult,
  type EventSpec,
  type Operation,
  type Refusal,
  SETTABLE,
  type SettableAttributes,
  type StepSpec,
} from '../../stream/operations/operation.ts'
import { parseRetry } from '../../stream/retry-policy.ts'
import { checkCommandId, checkText } from '../../stream/text.ts'
import { parseTimeSpan } from '../../stream/time/durations.ts'
import { commitQueue, type SubmitOutcome } from './commit-queue.ts'
import { sendWithData } from './operation-data.ts'
import type { PendingOperation } from './plan.ts'

/**
 * Makes one change of one stream: read, apply, write once, under the lease. It is applied wholly or not at all.
 *
 * Concurrent changes of the same stream in this process queue up and are written together; each remains a transaction
 * with its own version and outcome, reported only after its write is committed. Repeating a change with the same
 * `commandId` is safe: it is made once.
 *
 * @returns done, refused, missing, held, lost or unknown; see `TransactOutcome`
 * @throws BadDocument the document cannot be read (it stays as it is); InvalidValue an invalid text or id;
 * NotPermitted, ContainerMissing, StoreUnreachable, StoreDamaged, StoreFull from the store: nothing was applied
 */
export async function transact(
  store: StreamStore,
  name: string,
  operation: Operation,
  options: TransactOptions,
): Promise<TransactOutcome> {
  return transactAsFound(store, name, operation, options, {})
}

/** The same with what is decided when the change is applied, after those queued before it. */
export async function transactAsFound(
  store: StreamStore,
  name: string,
  operation: Operation,
  options: TransactOptions,
  asFound: Pick<PendingOperation, 'choose' | 'isIdle' | 'isTaken'>,
): Promise<TransactOutcome> {
  checkOperation(name, operation, options)
  options.signal?.throwIfAborted()
  const send = (applied: Operation, pin: Precondition) => {
    const pending = { ...pendingOperation(applied, { ...options, ...pin }), ...asFound }
    return submit(store, name, pending, options, applied.op === 'init')
  }
  const data = dataToWrite(operation)
  const outcome =
    data.length === 0 ? await send(operation, {}) : await sendWithData(store, name, { operation, data }, options, send)
  if (outcome.kind === 'done' && isFollowed(outcome.result)) await options.afterWrite?.(outcome.result)
  return outcome
}

/** Whether the change is in the stream, written by this call or by an earlier one that may have died before `afterWrite`. */
export function isFollowed({ outcome, duplicate }: ChangeResult): boolean {
  return outcome === 'done' || duplicate
}

/** Options of a change. With a precondition, it is refused (`changed`) if the stream has changed since it was read. */
export interface TransactOptions extends Authorship, Precondition {
  /** How long to wait for a lease held by another, ms. Default 10 000. */
  readonly leaseWaitMs?: number
  /** Write under this lease, which the caller holds. */
  readonly leaseId?: string
  /** How other writers are excluded. Default `lease`. */
  readonly write?: WriteMode
  /**
   * Called after the change is durable and before `transact` returns, for its consequences, such as a message to the
   * worker of a join that this change released. Called again for a duplicate, with `duplicate: true` and the first result:
   * the process that made the change may have died before it. Not called for a change without effect. If it throws,
   * `transact` throws the same error; the change stays made, and a repetition with the same command id calls it again.
   */
  readonly afterWrite?: (result: ChangeResult) => void | Promise<void>
  /**
   * Called for each attempt to get the lease: held by whom, how long waited, and the end. On Azure, who holds it costs a request
   * for each attempt. It must not throw.
   */
  readonly onLeaseAttempt?: (attempt: LeaseAttempt) => void
  /** The purpose of the lease, shown to others while it is held. */
  readonly purpose?: string
  /** Ends the wait for a lease held by another: `held`. A change in progress runs to its end. */
  readonly stopWaiting?: AbortSignal
  readonly signal?: AbortSignal
}

/** The outcome of one transaction. Faults (no permission, unreachable, bad document) are thrown. */
export type TransactOutcome =
  | { readonly kind: 'done'; readonly result: ChangeResult; readonly commandId: string }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly commandId: string }
  /** There is no such stream. */
  | { readonly kind: 'missing' }
  /** Leased by another for longer than `leaseWaitMs`; nothing was changed. */
  | { readonly kind: 'held'; readonly lease: LeaseView; readonly waitedMs: number; readonly lastBy?: string }
  /** The given lease was lost; nothing was changed. */
  | { readonly kind: 'lost'; readonly code: string }
  /**
   * Sent, unanswered, unresolved: repeat it with the same command id. With the cause `StreamReplaced` the stream is
   * gone, and a repetition would change the new stream of that name.
   */
  | { readonly kind: 'unknown'; readonly commandId: string; readonly cause: unknown }

/** The attributes of a new event. */
const SPEC = [...SETTABLE, 'signal', 'retry', 'attemptTimeout', 'undo']

/** Refuses invalid names, ids and texts before anything is sent. @throws InvalidValue */
export function checkOperation(name: string, operation: Operation, author: Authorship): void {
  checkStreamName(name)
  checkCommandId(author.commandId)
  if (author.by === '') throw new InvalidValue('an actor is needed: who makes this change')
  checkText('by', author.by)
  if (author.why !== undefined) checkText('reason', author.why)
  if ('msg' in operation && operation.msg !== undefined) checkText('msg', operation.msg)
  if ('owner' in operation && operation.owner !== undefined) checkOwner(operation.owner)
  if ('claimMs' in operation) checkClaimMs(operation.claimMs)
  if (operation.op === 'signal') checkSignal(operation.name)
  checkSpecs(operation)
  for (const data of dataIn(operation)) checkData(data)
}

function checkOwner(owner: string): void {
  if (owner === '') throw new InvalidValue('an owner must not be empty')
  checkText('owner', owner)
}

function checkSignal(name: string): void {
  if (name === '') throw new InvalidValue('a signal needs a name')
  checkText('signal', name)
}

/** Maximum duration of a claim, ms. */
export const LONGEST_CLAIM_MS = 366 * 24 * 3_600_000

function checkClaimMs(claimMs: number): void {
  if (Number.isFinite(claimMs) && claimMs > 0 && claimMs <= LONGEST_CLAIM_MS) return
  throw new InvalidValue(`a claim lasts between 1 ms and a year, not ${claimMs} ms`)
}

function checkSpecs(operation: Operation): void {
  for (const spec of specsIn(operation)) checkSpec(spec)
  if (operation.op === 'set') checkTexts(operation.attributes, SETTABLE)
  if (operation.op === 'advance') {
    const { next, forks, steps = [] } = operation
    if (next === undefined && forks.length === 0 && steps.length === 0)
      throw new InvalidValue('advance adds at least one successor: a next step, a fork or a plan')
  }
  if ('join' in operation && operation.join !== undefined && operation.forks.length === 0) {
    throw new InvalidValue('a join needs a fork whose branches it waits for')
  }
}

/** The new events of an operation. */
function specsIn(operation: Operation): EventSpec[] {
  switch (operation.op) {
    case 'init':
    case 'advance': {
      const { forks, steps = [], join } = operation
      const first = operation.op === 'init' ? operation.root : operation.next
      return [first, ...forks, ...steps, join].filter(spec => spec !== undefined)
    }
    case 'append':
      return [operation.step]
    default:
      return []
  }
}

/** The data that an operation gives to events: inputs of new events, and the result of its target. */
function dataIn(operation: Operation): EventData[] {
  const found = specsIn(operation).map(({ data }) => data)
  if ('result' in operation) found.push(operation.result)
  if (operation.op === 'signal') found.push(operation.data)
  return found.filter(data => data !== undefined)
}

/** The data of an operation that is kept beside the document. */
export function dataToWrite(operation: Operation): EventData[] {
  return dataIn(operation).filter(({ bytes }) => bytes !== undefined)
}

/** The texts that a gate is made of are checked with it. */
const CHECKED_ELSEWHERE: readonly string[] = [
  'data',
  'after',
  'delay',
  'wake',
  'auto',
  'retry',
  'attemptTimeout',
  'thread',
  'needs',
] satisfies (keyof StepSpec)[]

function checkSpec(spec: EventSpec & Partial<StepSpec>): void {
  const texts = Object.fromEntries(Object.entries(spec).filter(([name]) => !CHECKED_ELSEWHERE.includes(name)))
  if (spec.name === '') throw new InvalidValue('an event needs a name')
  checkTexts(texts, SPEC)
  for (const id of spec.after ?? []) checkText('after', id)
  if (spec.retry !== undefined) parseRetry(spec.retry)
  if (spec.attemptTimeout !== undefined && parseTimeSpan(spec.attemptTimeout) === undefined)
    throw new InvalidValue(`the attempt timeout ${spec.attemptTimeout} is not a time span`)
}

/** Refuses other attributes, as they would be written, even `status` or `prev`. */
function checkTexts(attributes: EventSpec | SettableAttributes, names: readonly string[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (!names.includes(name)) throw new InvalidValue(`${name} cannot be given; known attributes: ${names.join(', ')}`)
    if (value !== undefined) checkText(name, value)
  }
}

const DEFAULT_LEASE_WAIT_MS = 10_000

/** The operation of one call. */
export function pendingOperation(operation: Operation, options: Authorship & Precondition): PendingOperation {
  const { commandId, by, why, ifVersion, ifBorn, ifSum } = options
  return {
    operation,
    author: { commandId, by, ...(why === undefined ? {} : { why }) },
    pin: {
      ...(ifVersion === undefined ? {} : { ifVersion }),
      ...(ifBorn === undefined ? {} : { ifBorn }),
      ...(ifSum === undefined ? {} : { ifSum }),
    },
    // It distinguishes the entries of this call from others with the same command id. 32 bits: two calls in four
    // thousand million share a nonce.
    nonce: randomUUID().slice(0, 8),
    born: randomUUID(),
  }
}

/**
 * Adds a change to the queue of its stream in this process, and waits until its outcome is durable.
 *
 * @param alone never write it together with others
 */
export async function submit(
  store: StreamStore,
  name: string,
  pending: PendingOperation,
  options: TransactOptions,
  alone: boolean,
): Promise<TransactOutcome> {
  const { leaseId, write, signal, stopWaiting, onLeaseAttempt } = options
  const outcome = await commitQueue(store, name).submit(pending, {
    alone,
    // A caller that holds the lease does not wait, least of all behind one that waits for this lease.
    waitMs: leaseId === undefined ? (options.leaseWaitMs ?? DEFAULT_LEASE_WAIT_MS) : 0,
    leaseId,
    write,
    holder: {
      by: options.by,
      host: thisHost(),
      pid: process.pid,
      purpose: options.purpose ?? describe(pending.operation),
    },
    signal,
    stopWaiting,
    onLeaseAttempt,
  })
  return transactOutcome(name, pending.author.commandId, outcome)
}

let host: string | undefined

/** Cached, as it is a system call. */
export function thisHost(): string {
  host ??= hostname()
  return host
}

function describe(operation: Operation): string {
  return 'event' in operation && operation.event !== undefined ? `${operation.op} ${operation.event}` : operation.op
}

function transactOutcome(name: string, commandId: string, outcome: SubmitOutcome): TransactOutcome {
  switch (outcome.kind) {
    case 'changed':
    case 'unchanged':
      return { kind: 'done', result: outcome.result, commandId }
    case 'refused':
      return { kind: 'refused', refusal: outcome.refusal, commandId }
    case 'failed':
      throw outcome.error
    case 'replaced': {
      const cause = new StreamReplaced(`${name} was removed meanwhile, and another stream has its name now`)
      return { kind: 'unknown', commandId, cause }
    }
    case 'unknown':
      return { ...outcome, commandId }
    case 'missing':
    case 'held':
    case 'lost':
      return outcome
    default:
      return outcome satisfies never
  }
}

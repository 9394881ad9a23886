import { createHash, randomUUID } from 'node:crypto'
import { readStream } from '../ops/read-stream.ts'
import { documentCache } from '../ops/transact/commit.ts'
import { type ChooseEvent, parseBody } from '../ops/transact/plan.ts'
import { type TransactOptions, type TransactOutcome, transact, transactAsFound } from '../ops/transact/transact.ts'
import { unansweredDelay } from '../store/backoff.ts'
import { StoreUnreachable } from '../store/errors.ts'
import type { StreamSnapshot, StreamStore } from '../store/store.ts'
import type { StreamDocument } from '../stream/document.ts'
import { attemptOf, fenceOf, type StreamEvent } from '../stream/event.ts'
import { applyOperation } from '../stream/operations/apply.ts'
import type { ChangeResult, Operation, Refusal, RefusalCode } from '../stream/operations/operation.ts'
import { elapsedMs, type Instant, instantOf, type Timing } from '../util/clock.ts'
import { defined } from '../util/defined.ts'
import { claimMsOf, type EventWorkOptions, type NotCommitted, type WorkOptions, type WorkTarget } from './types.ts'

/** An event claimed by this worker. */
export interface Claim extends WorkTarget {
  readonly fence: number
  readonly attempt: number
  /** The event as of the claim. */
  readonly state: StreamEvent
  /** Incarnation of the stream. */
  readonly born: string
  /** Time at which the claim was requested: its duration counts from then at the earliest. */
  readonly sentAt: Instant
  /** Longest time without a heartbeat before the event's own timeout expires, ms; absent without such a timeout. */
  readonly silenceMs?: number
}

export type ClaimOutcome =
  | { readonly kind: 'claimed'; readonly claim: Claim }
  | { readonly kind: 'not-claimed'; readonly undone: NotCommitted }

/** Claims an event. An unanswered attempt is repeated under its command id while the claim would still be of use. */
export async function claimEvent(
  store: StreamStore,
  target: WorkTarget,
  options: EventWorkOptions,
  timing: Timing,
): Promise<ClaimOutcome> {
  return claimChosen(store, () => target, options, timing)
}

/**
 * Claims an event that `choose` finds when the claim is written. Called in one synchronous run after the end of an event of the
 * stream, it shares its write, and chooses among the events that this end makes ready.
 */
export async function claimNext(
  store: StreamStore,
  stream: string,
  choose: ChooseEvent,
  options: EventWorkOptions,
  timing: Timing,
): Promise<ClaimOutcome> {
  let event = ''
  const chosen: ChooseEvent = (document, made) => {
    const found = choose(document, made)
    event = found ?? ''
    return found
  }
  return claimChosen(store, () => ({ stream, event }), options, timing, chosen)
}

async function claimChosen(
  store: StreamStore,
  targetNow: () => WorkTarget,
  options: EventWorkOptions,
  timing: Timing,
  choose?: ChooseEvent,
): Promise<ClaimOutcome> {
  const { stream, event } = targetNow()
  const claimMs = claimMsOf(options)
  const { owner, takeOver, signal, maxAttempts } = options
  const operation = {
    op: 'start',
    event,
    owner,
    claimMs,
    ...(takeOver ? { takeOver } : {}),
    ...defined({ maxAttempts }),
  } as const
  const how = { ...transactOptions(options), commandId: randomUUID() }
  const sentAt = instantOf(timing)
  for (;;) {
    const outcome = await transactAsFound(store, stream, operation, how, defined({ choose }))
    if (outcome.kind === 'done') return claimOutcome(store, targetNow(), options, outcome.result, { sentAt, timing })
    if (outcome.kind === 'unknown' && !signal?.aborted && elapsedMs(sentAt, timing) < claimMs / 2) continue
    return { kind: 'not-claimed', undone: outcome }
  }
}

async function claimOutcome(
  store: StreamStore,
  target: WorkTarget,
  options: EventWorkOptions,
  { claim }: ChangeResult,
  at: { readonly sentAt: Instant; readonly timing: Timing },
): Promise<ClaimOutcome> {
  if (claim === undefined) return notClaimed(target, 'inprocess', 'already-advanced', 'it waits for its successors')
  const { fence, silenceMs } = claim
  const { sentAt, timing } = at
  const found = await eventAfter(store, target, { fence, timing, retryMs: claimMsOf(options) / 3 })
  if (found === undefined) return notClaimed(target, '', 'fenced', 'the claim was taken away before the work began')

  return {
    kind: 'claimed',
    claim: { ...target, fence, attempt: attemptOf(found.state), ...found, sentAt, ...defined({ silenceMs }) },
  }
}

/**
 * The event under this fencing token: from the cached document just written, otherwise from the store.
 * @throws the store's faults; an outage only after a third of the claim
 */
async function eventAfter(
  store: StreamStore,
  { stream, event }: WorkTarget,
  { fence, retryMs, timing }: { readonly fence: number; readonly retryMs: number; readonly timing: Timing },
) {
  const under = (document: StreamDocument | undefined) => {
    const state = document?.events.find(({ id }) => id === event)
    if (document === undefined || state === undefined || fenceOf(state) !== fence) return undefined
    return { born: document.born, state }
  }
  const written = under(documentCache(store).latest(stream))
  if (written !== undefined) return written
  const since = timing.monotonicMs()
  for (let attempt = 0; ; attempt++) {
    try {
      return under((await readStream(store, stream))?.document)
    } catch (error) {
      if (!(error instanceof StoreUnreachable) || timing.monotonicMs() - since > retryMs) throw error
      await timing.pause(unansweredDelay(attempt, undefined, timing.random), new AbortController().signal)
    }
  }
}

function notClaimed({ event }: WorkTarget, status: string, code: RefusalCode, why: string): ClaimOutcome {
  const refusal = { code, event, status, message: `${event} cannot be worked on: ${why}` }
  return { kind: 'not-claimed', undone: { kind: 'refused', refusal, commandId: '' } }
}

type Done = Extract<TransactOutcome, { readonly kind: 'done' }>
type Missing = Extract<NotCommitted, { readonly kind: 'missing' }>

/**
 * A change made under a claim. A stream that was removed and recreated may repeat fencing tokens, so a claim is valid only in
 * its own incarnation of the stream: with another incarnation the stream is `missing`.
 */
export async function changeUnderClaim(
  store: StreamStore,
  { stream, born }: Claim,
  operation: Operation,
  { commandId, ...options }: WorkOptions & { readonly commandId: string },
): Promise<Done | NotCommitted> {
  const outcome = await transact(store, stream, operation, { ...transactOptions(options), commandId, ...pinOf(born) })
  return outcome.kind === 'refused' && isAnotherLife(outcome.refusal) ? REPLACED : outcome
}

/** Result of a change, computed without writing it. */
export type Prediction =
  | { readonly kind: 'legal'; readonly result: ChangeResult }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | Missing

/**
 * Applies such a change to a document that was read, without writing it: reading works while another holds the lease.
 *
 * @param nowMs the store's clock, epoch ms
 * @throws BadDocument
 */
export function predictChange(
  stored: StreamSnapshot | undefined,
  { born }: Claim,
  operation: Operation,
  by: string,
  nowMs: number,
): Prediction {
  if (stored === undefined) return { kind: 'missing' }
  const { body, name, versionFloor, modifiedMs: lastModifiedMs } = stored
  const document = parseBody(body, name)
  const context = { nowMs, versionFloor, lastModifiedMs, born, ...pinOf(born) }
  const applied = applyOperation(document, operation, { commandId: randomUUID(), by }, context)
  if (applied.kind !== 'refused') return { kind: 'legal', result: applied.result }
  return isAnotherLife(applied.refusal) ? REPLACED : { kind: 'refused', refusal: applied.refusal }
}

const REPLACED: Missing = { kind: 'missing', isReplaced: true }

/** A document written by a foreign program may have no incarnation id. */
function pinOf(born: string): { readonly ifBorn?: string } {
  return born === '' ? {} : { ifBorn: born }
}

function isAnotherLife({ code }: Refusal): boolean {
  return code === 'changed'
}

/** Options of the transactions of a worker. The signal ends their waits for leases held by others. */
function transactOptions({
  owner,
  by,
  why,
  leaseWaitMs,
  write,
  signal,
  onLeaseAttempt,
}: WorkOptions): Omit<TransactOptions, 'commandId'> {
  return {
    by: by ?? owner,
    ...defined({ why, leaseWaitMs, write, stopWaiting: signal, onLeaseAttempt }),
  }
}

/** Leaves room for a prefix in a command id and in a file name, characters. */
const MOST_LENGTH = 150

/**
 * Identifies one attempt of one event in one incarnation of its stream: `BORN_EVENT_ATTEMPT`. It consists of letters, digits,
 * `.`, `-`, `_` and `%`, and stays the same when a released attempt is claimed again. A longer key is hashed.
 */
export function attemptKey(born: string, event: string, attempt: number): string {
  const key = `${encoded(born)}_${encoded(event)}`
  const short = key.length <= MOST_LENGTH ? key : createHash('sha256').update(key).digest('hex')
  return `${short}_${attempt}`
}

/** `encodeURIComponent`, and also those characters that it keeps but the key must not contain, the separator included. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*~_]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

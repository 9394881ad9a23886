import { createHash, randomUUID } from 'node:crypto'
import { readStream } from '../ops/read-stream.ts'
import { documentCache } from '../ops/transact/commit.ts'
import { parseBody } from '../ops/transact/plan.ts'
import { type TransactOptions, type TransactOutcome, transact } from '../ops/transact/transact.ts'
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

/** An event that is ours for now. */
export interface Claim extends WorkTarget {
  readonly fence: number
  readonly attempt: number
  /** As it stood once it was claimed. */
  readonly state: StreamEvent
  /** The stream's life. */
  readonly born: string
  /** When the claim was asked for: it runs no longer than from then on. */
  readonly sentAt: Instant
  /** How long the event may give no sign of life before its own timeout ends, ms; absent without such a limit. */
  readonly silenceMs?: number
}

export type ClaimOutcome =
  | { readonly kind: 'claimed'; readonly claim: Claim }
  | { readonly kind: 'not-claimed'; readonly undone: NotCommitted }

/** Claims an event. A try without an answer is repeated under its own command id while the claim could still be of use. */
export async function claimEvent(
  store: StreamStore,
  target: WorkTarget,
  options: EventWorkOptions,
  timing: Timing,
): Promise<ClaimOutcome> {
  const claimMs = claimMsOf(options)
  const { owner, takeOver, signal } = options
  const operation = { op: 'start', event: target.event, owner, claimMs, ...(takeOver ? { takeOver } : {}) } as const
  const how = { ...transactOptions(options), commandId: randomUUID() }
  const sentAt = instantOf(timing)
  for (;;) {
    const outcome = await transact(store, target.stream, operation, how)
    if (outcome.kind === 'done') return claimed(store, target, options, outcome.result, { sentAt, timing })
    if (outcome.kind === 'unknown' && !signal?.aborted && elapsedMs(sentAt, timing) < claimMs / 2) continue
    return { kind: 'not-claimed', undone: outcome }
  }
}

async function claimed(
  store: StreamStore,
  target: WorkTarget,
  options: EventWorkOptions,
  { claim }: ChangeResult,
  at: { readonly sentAt: Instant; readonly timing: Timing },
): Promise<ClaimOutcome> {
  if (claim === undefined) return notClaimed(target, 'inprocess', 'already-advanced', 'it waits for its successors')
  const { fence, silenceMs } = claim
  const { sentAt, timing } = at
  const found = await eventAfter(store, target, { fence, timing, patienceMs: claimMsOf(options) / 3 })
  if (found === undefined) return notClaimed(target, '', 'fenced', 'the claim was taken away before the work began')
  const limit = silenceMs === undefined ? {} : { silenceMs }
  return { kind: 'claimed', claim: { ...target, fence, attempt: attemptOf(found.state), ...found, sentAt, ...limit } }
}

/**
 * The event under this fence: from the document just written, where it is remembered; else it is read.
 * @throws the store's faults, once it has not answered for a third of the claim
 */
async function eventAfter(
  store: StreamStore,
  { stream, event }: WorkTarget,
  { fence, patienceMs, timing }: { readonly fence: number; readonly patienceMs: number; readonly timing: Timing },
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
      if (!(error instanceof StoreUnreachable) || timing.monotonicMs() - since > patienceMs) throw error
      await timing.pause(unansweredDelay(attempt, undefined, timing.random), new AbortController().signal)
    }
  }
}

function notClaimed({ event }: WorkTarget, status: string, code: RefusalCode, why: string): ClaimOutcome {
  const refusal = { code, event, status, message: `${event} is not to be worked on: ${why}` }
  return { kind: 'not-claimed', undone: { kind: 'refused', refusal, commandId: '' } }
}

type Done = Extract<TransactOutcome, { readonly kind: 'done' }>
type Missing = Extract<NotCommitted, { readonly kind: 'missing' }>

/**
 * A change made under a claim. A stream that was removed and created anew may have the same fence, so a claim holds in the life
 * of the stream in which it was made: with another one that stream is `missing`.
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

/** What such a change would come to. */
export type Foreseen =
  | { readonly kind: 'legal'; readonly result: ChangeResult }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | Missing

/**
 * What such a change would come to in the document as it was read: a lease that another holds keeps nobody from reading.
 *
 * @param nowMs the store's clock, epoch ms
 * @throws BadDocument
 */
export function foreseen(
  stored: StreamSnapshot | undefined,
  { born }: Claim,
  operation: Operation,
  by: string,
  nowMs: number,
): Foreseen {
  if (stored === undefined) return { kind: 'missing' }
  const { body, name, versionFloor, modifiedMs: lastModifiedMs } = stored
  const document = parseBody(body, name)
  const context = { nowMs, versionFloor, lastModifiedMs, born, ...pinOf(born) }
  const applied = applyOperation(document, operation, { commandId: randomUUID(), by }, context)
  if (applied.kind !== 'refused') return { kind: 'legal', result: applied.result }
  return isAnotherLife(applied.refusal) ? REPLACED : { kind: 'refused', refusal: applied.refusal }
}

const REPLACED: Missing = { kind: 'missing', isReplaced: true }

/** A writer who knows nothing of lives may have left none. */
function pinOf(born: string): { readonly ifBorn?: string } {
  return born === '' ? {} : { ifBorn: born }
}

function isAnotherLife({ code }: Refusal): boolean {
  return code === 'changed'
}

/** What all transactions of a worker have in common, down to the signal: only then changes of one stream share a write. */
function transactOptions({
  owner,
  by,
  why,
  leaseWaitMs,
  write,
  signal,
}: WorkOptions): Omit<TransactOptions, 'commandId'> {
  return {
    by: by ?? owner,
    ...defined({ why, leaseWaitMs, write, stopWaiting: signal }),
  }
}

/** Fits a command id with something in front of it, and the name of a file. */
const MOST_LENGTH = 150

/**
 * Names one attempt of one event in one life of its stream: `BORN_EVENT_ATTEMPT`. It has only letters, digits, `.`, `-`, `_`
 * and `%`, and is the same for whoever takes up the same attempt after it was handed back. What would be too long is hashed.
 */
export function attemptKey(born: string, event: string, attempt: number): string {
  const key = `${encoded(born)}_${encoded(event)}`
  const short = key.length <= MOST_LENGTH ? key : createHash('sha256').update(key).digest('hex')
  return `${short}_${attempt}`
}

/** `encodeURIComponent`, and what it leaves that is not in the set; the separator is not in it. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*~_]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

import { randomUUID } from 'node:crypto'
import { readStream } from '../ops/read-stream.ts'
import { documentCache } from '../ops/transact/document-cache.ts'
import { transact } from '../ops/transact/transact.ts'
import { silenceDelay } from '../store/backoff.ts'
import { StoreUnreachable } from '../store/errors.ts'
import type { EventStore } from '../store/store.ts'
import type { StreamDocument } from '../stream/document.ts'
import { attemptOf, fenceOf, type StreamEvent } from '../stream/event.ts'
import type { ChangeResult, RefusalCode } from '../stream/operations/operation.ts'
import { elapsedMs, type Moment, momentOf, type Timing } from '../util/clock.ts'
import { authorship } from './authorship.ts'
import { claimMsOf, type EventWorkOptions, type WorkTarget } from './work-options.ts'
import type { Undone } from './work-outcome.ts'

/** An event that is ours for now. */
export interface Claim extends WorkTarget {
  readonly fence: number
  readonly attempt: number
  /** As it stood once it was claimed. */
  readonly state: StreamEvent
  /** The stream's life. */
  readonly born: string
  /** When the claim was asked for: it runs no longer than from then on. */
  readonly sentAt: Moment
  /** How long the event may give no sign of life before its own timeout ends, ms; absent without such a limit. */
  readonly silenceMs?: number
}

export type ClaimOutcome =
  | { readonly kind: 'claimed'; readonly claim: Claim }
  | { readonly kind: 'not-claimed'; readonly undone: Undone }

/** Claims an event. A try without an answer is repeated under its own command id while the claim could still be of use. */
export async function claimEvent(
  store: EventStore,
  target: WorkTarget,
  options: EventWorkOptions,
  timing: Timing,
): Promise<ClaimOutcome> {
  const claimMs = claimMsOf(options)
  const { owner, takeOver, signal } = options
  const operation = { op: 'start', event: target.event, owner, claimMs, ...(takeOver ? { takeOver } : {}) } as const
  const how = { ...authorship(options), commandId: randomUUID() }
  const sentAt = momentOf(timing)
  for (;;) {
    const outcome = await transact(store, target.stream, operation, how)
    if (outcome.kind === 'done') return claimed(store, target, options, outcome.result, { sentAt, timing })
    if (outcome.kind === 'unknown' && !signal?.aborted && elapsedMs(sentAt, timing) < claimMs / 2) continue
    return { kind: 'not-claimed', undone: outcome }
  }
}

async function claimed(
  store: EventStore,
  target: WorkTarget,
  options: EventWorkOptions,
  { claim }: ChangeResult,
  at: { readonly sentAt: Moment; readonly timing: Timing },
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
  store: EventStore,
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
      await timing.pause(silenceDelay(attempt, undefined, timing.random), new AbortController().signal)
    }
  }
}

function notClaimed({ event }: WorkTarget, status: string, code: RefusalCode, why: string): ClaimOutcome {
  const refusal = { code, event, status, message: `${event} is not to be worked on: ${why}` }
  return { kind: 'not-claimed', undone: { kind: 'refused', refusal, commandId: '' } }
}

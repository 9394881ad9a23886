import {
  acquire,
  breakLease,
  change,
  type LeaseAnswer,
  type LeaseRecord,
  leaseStateAt,
  mayRead,
  mayWrite,
  release,
  renew,
} from '../stream/lease.ts'
import { defined } from '../util/defined.ts'
import { RetryBudget } from './backoff.ts'
import { LeaseAttempts } from './lease-attempts.ts'
import type {
  AcquireOptions,
  AcquireOutcome,
  BreakOutcome,
  ChangeOptions,
  ChangeOutcome,
  Holder,
  LeasedReadOutcome,
  LeaseOutcome,
  LeaseView,
  StreamSnapshot,
} from './store.ts'

/** A lease as the memory and SQLite drivers store it: the record and its holder. */
export interface KeptLease {
  readonly record: LeaseRecord
  readonly holder: Holder | undefined
}

/** The part of a stream that lease operations read. */
export interface LeasedStream {
  readonly etag: string
  readonly lease: KeptLease
  /** Actor of the last write, `''` if unknown. */
  readonly lastBy: string
}

/** Outcome of a lease operation, and the lease that the driver has to store; without `keep` nothing changes. */
export interface LeaseStep<T> {
  readonly outcome: T
  readonly keep?: KeptLease
}

/** The lease as others see it: without its id, and with the holder only while it is held. */
export function leaseView({ record, holder }: KeptLease, nowMs: number): LeaseView {
  const state = leaseStateAt(record, nowMs)

  switch (state) {
    case 'available':
    case 'broken':
    case 'expired':
      return { state }
    case 'breaking':
      return { state, ...defined({ holder, untilMs: record.breakAtMs }) }
    case 'leased':
      return {
        state,
        duration: record.durationS === -1 ? 'infinite' : 'fixed',
        ...defined({ holder, untilMs: record.untilMs }),
      }
    default:
      return state satisfies never
  }
}

/** Whether a change may write: yes, another holds the lease, or the given lease is not the stream's. */
export type WriteCheck =
  | { readonly kind: 'open' }
  | { readonly kind: 'held'; readonly lease: LeaseView; readonly lastBy?: string }
  | { readonly kind: 'lost'; readonly code: string }

export function checkWrite(stream: LeasedStream, leaseId: string | undefined, nowMs: number): WriteCheck {
  const answer = mayWrite(stream.lease.record, leaseId, nowMs)
  if (answer.kind === 'ok') return { kind: 'open' }
  return leaseId === undefined ? held(stream, nowMs) : { kind: 'lost', code: answer.code }
}

/** A read under the given lease. @param stored the stream as it is */
export function leasedRead(
  lease: KeptLease,
  leaseId: string,
  stored: StreamSnapshot,
  nowMs: number,
): LeasedReadOutcome {
  const answer = mayRead(lease.record, leaseId, nowMs)
  return answer.kind === 'ok' ? { kind: 'read', stored } : { kind: 'lost', code: answer.code }
}

/** Attempts a change, and again with back-off while another holds the lease: at most `waitMs`, until `stopWaiting`. */
export async function retryWhileHeld(
  name: string,
  attempt: () => Promise<ChangeOutcome> | ChangeOutcome,
  options: ChangeOptions,
  random: () => number,
): Promise<ChangeOutcome> {
  const { waitMs, stopWaiting, signal, leaseId, onLeaseAttempt } = options
  // A change under a lease of its caller makes none.
  const attempts = leaseId === undefined && onLeaseAttempt ? new LeaseAttempts(name, onLeaseAttempt) : undefined
  let budget: RetryBudget | undefined
  for (;;) {
    signal?.throwIfAborted()
    const outcome = await attempt()
    const waitedMs = budget?.waitedMs ?? 0
    if (outcome.kind === 'committed' || outcome.kind === 'left') attempts?.acquired(waitedMs)
    if (outcome.kind !== 'held') return outcome
    attempts?.held(waitedMs, outcome.lease, outcome.lastBy)
    budget ??= new RetryBudget({ limitMs: waitMs, random, stop: stopWaiting, signal })
    if (await budget.pause()) continue
    attempts?.gaveUp(budget.waitedMs)
    return { ...outcome, waitedMs: budget.waitedMs }
  }
}

export function acquireStep(stream: LeasedStream, options: AcquireOptions, nowMs: number): LeaseStep<AcquireOutcome> {
  const { leaseId, durationS, holder } = options
  const answer = acquire(stream.lease.record, leaseId, durationS, nowMs)
  if (answer.kind === 'refused') return { outcome: held(stream, nowMs) }
  return { outcome: { kind: 'acquired', leaseId, etag: stream.etag }, keep: { record: answer.record, holder } }
}

export function renewStep({ lease }: LeasedStream, leaseId: string, nowMs: number): LeaseStep<LeaseOutcome> {
  return stepOf(renew(lease.record, leaseId, nowMs), leaseId, lease.holder)
}

export function changeStep(
  { lease }: LeasedStream,
  leaseId: string,
  proposedId: string,
  nowMs: number,
): LeaseStep<LeaseOutcome> {
  return stepOf(change(lease.record, leaseId, proposedId, nowMs), proposedId, lease.holder)
}

export function releaseStep({ lease }: LeasedStream, leaseId: string): LeaseStep<LeaseOutcome> {
  return stepOf(release(lease.record, leaseId), leaseId, undefined)
}

export function breakStep(
  { lease }: LeasedStream,
  periodS: number | undefined,
  nowMs: number,
): LeaseStep<BreakOutcome> {
  const answer = breakLease(lease.record, periodS, nowMs)
  if (answer.kind === 'refused') return { outcome: { kind: 'not-leased' } }
  const keep = { record: answer.record, holder: lease.holder }
  return { outcome: { kind: 'broken', remainingS: answer.remainingS }, keep }
}

function stepOf(answer: LeaseAnswer, leaseId: string, holder: Holder | undefined): LeaseStep<LeaseOutcome> {
  if (answer.kind === 'refused') return { outcome: { kind: 'lost', code: answer.code } }
  return { outcome: { kind: 'ok', leaseId }, keep: { record: answer.record, holder } }
}

function held(stream: LeasedStream, nowMs: number): { kind: 'held'; lease: LeaseView; lastBy?: string } {
  const lease = leaseView(stream.lease, nowMs)
  return stream.lastBy === '' ? { kind: 'held', lease } : { kind: 'held', lease, lastBy: stream.lastBy }
}

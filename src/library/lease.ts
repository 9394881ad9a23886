import { randomUUID } from 'node:crypto'
import { thisHost } from '../ops/enqueue.ts'
import { acquireWaiting, type HeldLease, type LeaseScopeOutcome, leaseScope as scope } from '../ops/lease-scope.ts'
import type { AcquireOutcome, BreakOutcome, EventStore, Holder, LeaseOutcome } from '../store/store.ts'
import { InvalidValue } from '../stream/errors.ts'
import { checkText } from '../stream/texts.ts'
import { checkLeaseId, checkMs } from './checks.ts'
import type { SignalOption } from './read-stream.ts'

/** Who takes a lease, and how. */
export interface TakeLeaseOptions extends SignalOption {
  /** Who holds it: others see it. */
  readonly by: string
  /** What it is held for: others see it. Default `lease`. */
  readonly purpose?: string
  /** How long to wait for a lease held by another, ms, with back-off. Default 0 for `acquireLease`: one try; 10 000 for `leaseScope`. */
  readonly waitMs?: number
}

/** How `leaseScope` holds its lease. */
export interface LeaseScopeOptions extends TakeLeaseOptions {
  /** Seconds, 15–60. Default 30. It is renewed at a third of it. */
  readonly durationS?: number
}

/** How `acquireLease` takes a lease. */
export interface AcquireLeaseOptions extends TakeLeaseOptions {
  /** Seconds, 15–60, or -1 for one that only ends when it is released or broken. Default 60. */
  readonly durationS?: number
  /** A UUID. Repeating with the same one is safe: it starts the clock anew. Default: a fresh one. */
  readonly leaseId?: string
}

/** What became of `acquireLease`. */
export type AcquireLeaseOutcome =
  | Exclude<AcquireOutcome, { readonly kind: 'unknown' }>
  /** No answer: repeat with this id, or release it. */
  | { readonly kind: 'unknown'; readonly leaseId: string; readonly cause: unknown }

/**
 * Takes the lease of a stream, so that nobody else can change it. Whoever holds it renews it before it runs out, changes the
 * stream with `leaseId` and gives it back; `leaseScope` does all that by itself.
 *
 * @throws InvalidValue for another duration, an id that is no UUID, no `by`; the signal's reason, the store's faults
 */
export async function acquireLease(
  store: EventStore,
  name: string,
  options: AcquireLeaseOptions,
): Promise<AcquireLeaseOutcome> {
  const { leaseId = randomUUID(), durationS = 60, waitMs = 0 } = options
  checkLeaseId(leaseId)
  const holding = { ...signalIn(options), holder: holderOf(store, options), waitMs, record: true }
  try {
    const { outcome } = await acquireWaiting(store, name, leaseId, durationS, holding)
    return outcome.kind === 'unknown' ? { ...outcome, leaseId } : outcome
  } catch (error) {
    // Given up on its way it may have been taken: nobody else knows the id.
    if (options.leaseId === undefined) await store.release(name, leaseId).catch(() => undefined)
    throw error
  }
}

/** Starts the time of a lease anew, also after its end if nobody wrote or leased since. */
export function renewLease(
  store: EventStore,
  name: string,
  leaseId: string,
  options: SignalOption = {},
): Promise<LeaseOutcome> {
  return store.renew(name, leaseId, options.signal)
}

/**
 * Gives a lease another id: whoever knew the old one has lost it.
 *
 * @throws InvalidValue if `newId` is no UUID; the signal's reason, the store's faults
 */
export async function changeLease(
  store: EventStore,
  name: string,
  leaseId: string,
  newId: string,
  options: SignalOption = {},
): Promise<LeaseOutcome> {
  checkLeaseId(newId)
  return store.change(name, leaseId, newId, options.signal)
}

/** Gives a lease back: others may write at once. */
export function releaseLease(
  store: EventStore,
  name: string,
  leaseId: string,
  options: SignalOption = {},
): Promise<LeaseOutcome> {
  return store.release(name, leaseId, options.signal)
}

/** How `breakLease` ends a lease. */
export interface BreakLeaseOptions extends SignalOption {
  /** Seconds, 0–60, until it ends at the latest. Default 0: at once. */
  readonly periodS?: number
}

/** Ends another's lease. What its holder is doing is lost. */
export function breakLease(store: EventStore, name: string, options: BreakLeaseOptions = {}): Promise<BreakOutcome> {
  return store.break(name, options.periodS ?? 0, options.signal)
}

/**
 * Runs `work` while the lease of a stream is held: acquires it, renews it, aborts `lease.signal` when it is lost, releases it
 * on every exit.
 *
 * @returns done with what `work` gave; held, missing or unknown if it could not be had; lost if it was lost meanwhile
 * @throws what `work` throws, unless the lease was lost; InvalidValue for another duration, no `by`; the signal's reason; the
 * store's faults
 */
export async function leaseScope<T>(
  store: EventStore,
  name: string,
  options: LeaseScopeOptions,
  work: (lease: HeldLease) => Promise<T>,
): Promise<LeaseScopeOutcome<T>> {
  const { durationS, waitMs } = options
  const holding = {
    holder: holderOf(store, options),
    ...(durationS === undefined ? {} : { durationS }),
    ...(waitMs === undefined ? {} : { waitMs }),
    ...signalIn(options),
  }
  return scope(store, name, holding, work)
}

function signalIn({ signal }: SignalOption): SignalOption {
  return signal === undefined ? {} : { signal }
}

function holderOf(store: EventStore, { by, purpose = 'lease', waitMs }: TakeLeaseOptions): Holder {
  if (by === '') throw new InvalidValue('an actor is needed: who holds the lease')
  checkText('by', by)
  checkText('purpose', purpose)
  checkMs('waitMs', waitMs)
  return { by, host: thisHost(), pid: process.pid, purpose, sinceMs: store.nowMs() }
}

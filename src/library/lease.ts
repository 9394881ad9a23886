import { randomUUID } from 'node:crypto'
import { LeaseMonitor } from '../ops/lease-monitor.ts'
import { acquireWaiting, type HeldLease, type LeaseScopeOutcome, leaseScope as scope } from '../ops/lease-scope.ts'
import { thisHost } from '../ops/transact/transact.ts'
import type { AcquireOutcome, BreakOutcome, Holder, LeaseOutcome, StreamStore } from '../store/store.ts'
import {
  callback,
  objectOf,
  type Read,
  required,
  requiredText,
  signal,
  storedText,
  uuid,
  whole,
} from '../stream/values.ts'
import { checkTarget, waitMs } from './checks.ts'
import { readSignal, type SignalOption } from './streams.ts'

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

const TAKE_LEASE = { by: required(requiredText), purpose: storedText(), waitMs, signal }
const durationS = whole(15, 60)
const durationOrNoEnd: Read<number> = (given, field) => (given === -1 ? -1 : durationS(given, field))

const readAcquire = objectOf<AcquireLeaseOptions>({ ...TAKE_LEASE, durationS: durationOrNoEnd, leaseId: uuid })
const readLeaseScope = objectOf<LeaseScopeOptions>({ ...TAKE_LEASE, durationS })

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
  store: StreamStore,
  name: string,
  options: AcquireLeaseOptions,
): Promise<AcquireLeaseOutcome> {
  checkTarget(store, name)
  const { leaseId = randomUUID(), durationS = 60, waitMs = 0, signal, ...given } = readAcquire(options, 'options')
  const holding = { ...(signal && { signal }), holder: holderOf(store, given), waitMs, record: true }
  try {
    const outcome = await acquireWaiting(new LeaseMonitor(store, name, { leaseId, durationS }), holding)
    return outcome.kind === 'unknown' ? { ...outcome, leaseId } : outcome
  } catch (error) {
    // Given up on its way it may have been taken: nobody else knows the id.
    if (options.leaseId === undefined) await store.releaseLease(name, leaseId).catch(() => undefined)
    throw error
  }
}

/** Starts the time of a lease anew, also after its end if nobody wrote or leased since. */
export async function renewLease(
  store: StreamStore,
  name: string,
  leaseId: string,
  options: SignalOption = {},
): Promise<LeaseOutcome> {
  checkTarget(store, name)
  return store.renewLease(name, uuid(leaseId, 'leaseId'), readSignal(options, 'options').signal)
}

/**
 * Gives a lease another id: whoever knew the old one has lost it.
 *
 * @throws InvalidValue if `newId` is no UUID; the signal's reason, the store's faults
 */
export async function changeLease(
  store: StreamStore,
  name: string,
  leaseId: string,
  newId: string,
  options: SignalOption = {},
): Promise<LeaseOutcome> {
  checkTarget(store, name)
  const ids = [uuid(leaseId, 'leaseId'), uuid(newId, 'newId')] as const
  return store.changeLeaseId(name, ...ids, readSignal(options, 'options').signal)
}

/** Gives a lease back: others may write at once. */
export async function releaseLease(
  store: StreamStore,
  name: string,
  leaseId: string,
  options: SignalOption = {},
): Promise<LeaseOutcome> {
  checkTarget(store, name)
  return store.releaseLease(name, uuid(leaseId, 'leaseId'), readSignal(options, 'options').signal)
}

/** How `breakLease` ends a lease. */
export interface BreakLeaseOptions extends SignalOption {
  /** Seconds, 0–60, until it ends at the latest. Default 0: at once. */
  readonly periodS?: number
}

const readBreak = objectOf<BreakLeaseOptions>({ periodS: whole(0, 60), signal })

/** Ends another's lease. What its holder is doing is lost. */
export async function breakLease(
  store: StreamStore,
  name: string,
  options: BreakLeaseOptions = {},
): Promise<BreakOutcome> {
  checkTarget(store, name)
  const { periodS = 0, signal } = readBreak(options, 'options')
  return store.breakLease(name, periodS, signal)
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
  store: StreamStore,
  name: string,
  options: LeaseScopeOptions,
  work: (lease: HeldLease) => Promise<T>,
): Promise<LeaseScopeOutcome<T>> {
  checkTarget(store, name)
  const { by, purpose, ...given } = readLeaseScope(options, 'options')
  callback(work, 'work')
  const holder = holderOf(store, { by, ...(purpose === undefined ? {} : { purpose }) })
  return scope(store, name, { ...given, holder }, work)
}

function holderOf(store: StreamStore, { by, purpose = 'lease' }: Pick<TakeLeaseOptions, 'by' | 'purpose'>): Holder {
  return { by, host: thisHost(), pid: process.pid, purpose, sinceMs: store.nowMs() }
}

import { randomUUID } from 'node:crypto'
import { type BreakLeaseOutcome, breakAndRecord } from '../ops/break-lease.ts'
import { LeaseMonitor } from '../ops/lease-monitor.ts'
import {
  acquireWaiting,
  type HeldLease,
  type LeaseScopeOutcome,
  RELEASE_MS,
  leaseScope as scope,
} from '../ops/lease-scope.ts'
import { thisHost } from '../ops/transact/transact.ts'
import type { AcquireOutcome, Holder, LeaseOutcome, StreamStore } from '../store/store.ts'
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
import { within } from '../util/concurrency.ts'
import { defined } from '../util/defined.ts'
import { checkTarget, commandId, reason, waitMs } from './checks.ts'
import { readSignal, type SignalOption } from './signal.ts'

/** Options for acquiring a lease. */
export interface TakeLeaseOptions extends SignalOption {
  /** The holder, shown to others. */
  readonly by: string
  /** Purpose of the lease, shown to others. Default `lease`. */
  readonly purpose?: string
  /** How long to wait, with back-off, for a lease held by another, ms. Default: 0 (one attempt) for `acquireLease`, 10 000 for `leaseScope`. */
  readonly waitMs?: number
}

/** Options of `leaseScope`. */
export interface LeaseScopeOptions extends TakeLeaseOptions {
  /** Duration of the lease, seconds, 15–60. Default 30. It is renewed after a third of the duration. */
  readonly durationS?: number
}

/** Options of `acquireLease`. */
export interface AcquireLeaseOptions extends TakeLeaseOptions {
  /** Duration of the lease, seconds, 15–60, or -1 for a lease that lasts until it is released or broken. Default 60. */
  readonly durationS?: number
  /** The lease id, a UUID. Repeating with the same id is safe: it restarts the duration. Default: a fresh UUID. */
  readonly leaseId?: string
}

const TAKE_LEASE = { by: required(requiredText), purpose: storedText(), waitMs, signal }
const durationS = whole(15, 60)
const durationOrNoEnd: Read<number> = (given, field) => (given === -1 ? -1 : durationS(given, field))

const readAcquire = objectOf<AcquireLeaseOptions>({ ...TAKE_LEASE, durationS: durationOrNoEnd, leaseId: uuid })
const readLeaseScope = objectOf<LeaseScopeOptions>({ ...TAKE_LEASE, durationS })

/** Outcome of `acquireLease`. */
export type AcquireLeaseOutcome =
  | Exclude<AcquireOutcome, { readonly kind: 'unknown' }>
  /** No answer: repeat with this lease id, or release it. */
  | { readonly kind: 'unknown'; readonly leaseId: string; readonly cause: unknown }

/**
 * Acquires the lease of a stream, so that no other program can change it. The caller renews it before it expires, changes
 * the stream with `leaseId`, and releases it; `leaseScope` does all of this.
 *
 * @throws InvalidValue for a duration out of range, an id that is not a UUID, or a missing `by`; the signal's reason; the
 * store's faults
 */
export async function acquireLease(
  store: StreamStore,
  name: string,
  options: AcquireLeaseOptions,
): Promise<AcquireLeaseOutcome> {
  checkTarget(store, name)
  const { leaseId = randomUUID(), durationS = 60, waitMs = 0, signal, ...given } = readAcquire(options, 'options')
  const holding = { ...(signal && { signal }), holder: holderOf(store, given), waitMs, record: true }
  const lease = new LeaseMonitor(store, name, { leaseId, durationS })
  try {
    const outcome = await acquireWaiting(lease, holding)
    return outcome.kind === 'unknown' ? { ...outcome, leaseId } : outcome
  } catch (error) {
    // An aborted acquire may have succeeded, and no one else knows its id.
    if (options.leaseId === undefined) await within(RELEASE_MS, lease.release())
    throw error
  }
}

/** Renews a lease for its full duration. An expired lease can be renewed if no one wrote or leased the stream since. */
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
 * Changes the id of a lease. Programs that use the old id lose the lease.
 *
 * @throws InvalidValue if an id is not a UUID; the signal's reason; the store's faults
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

/** Releases a lease: others can write at once. */
export async function releaseLease(
  store: StreamStore,
  name: string,
  leaseId: string,
  options: SignalOption = {},
): Promise<LeaseOutcome> {
  checkTarget(store, name)
  return store.releaseLease(name, uuid(leaseId, 'leaseId'), readSignal(options, 'options').signal)
}

/** Options of `breakLease`. */
export interface BreakLeaseOptions extends SignalOption {
  /** The actor, for the journal. */
  readonly by: string
  /** The reason, for the journal. */
  readonly why?: string
  /** Id of the entry in the journal. Default: a fresh UUID. */
  readonly commandId?: string
  /** Longest time until the lease ends, seconds, 0–60. Default 0: at once. */
  readonly periodS?: number
  /** How long the entry in the journal waits until the stream can be written, ms. Default: 10 000; with `periodS` 0. */
  readonly leaseWaitMs?: number
}

const readBreak = objectOf<BreakLeaseOptions>({
  by: required(requiredText),
  why: reason,
  commandId,
  periodS: whole(0, 60),
  leaseWaitMs: waitMs,
  signal,
})

const JOURNAL_WAIT_MS = 10_000

/**
 * Ends the lease of another holder, and records it in the journal of the stream. Changes that the holder has not written yet
 * are rejected.
 *
 * @returns `broken` with `journal`: `written`, or why there is no entry. The lease is broken either way
 */
export async function breakLease(
  store: StreamStore,
  name: string,
  options: BreakLeaseOptions,
): Promise<BreakLeaseOutcome> {
  checkTarget(store, name)
  const { signal, periodS = 0, ...given } = readBreak(options, 'options')
  return breakAndRecord(store, name, {
    ...{ commandId: randomUUID(), leaseWaitMs: periodS > 0 ? 0 : JOURNAL_WAIT_MS, ...given, periodS },
    ...defined({ signal, stopWaiting: signal }),
  })
}

/**
 * Runs `work` while holding the lease of a stream: acquires the lease, renews it, aborts `lease.signal` when it is lost, and
 * releases it on every exit.
 *
 * @returns `done` with the result of `work`; `held`, `missing` or `unknown` if the lease was not acquired; `lost` if it was lost
 * during `work`
 * @throws errors of `work`, unless the lease was lost; InvalidValue for a duration out of range or a missing `by`; the signal's
 * reason; the store's faults
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
  const holder = holderOf(store, { by, ...defined({ purpose }) })
  return scope(store, name, { ...given, holder }, work)
}

function holderOf(store: StreamStore, { by, purpose = 'lease' }: Pick<TakeLeaseOptions, 'by' | 'purpose'>): Holder {
  return { by, host: thisHost(), pid: process.pid, purpose, sinceMs: store.nowMs() }
}

import { randomUUID } from 'node:crypto'
import { backOff } from '../store/backoff.ts'
import type { AcquireOutcome, Holder, StreamStore } from '../store/store.ts'
import { sleepUntilAborted, within } from '../util/concurrency.ts'
import { LeaseMonitor } from './lease-monitor.ts'

export interface HoldLeaseOptions {
  readonly holder: Holder
  /** Seconds, 15–60. Default 30. The lease is renewed after a third. */
  readonly durationS?: number
  /** How long to wait for a lease held by another, ms. Default 10 000; 0 = one try. */
  readonly waitMs?: number
  readonly signal?: AbortSignal
}

/** A held lease. */
export interface HeldLease {
  readonly leaseId: string
  /** Aborts when the lease is lost or cannot be renewed in time: stop at once and write nothing more. */
  readonly signal: AbortSignal
}

/** The outcome of work under a lease. */
export type LeaseScopeOutcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  | Exclude<AcquireOutcome, { readonly kind: 'acquired' }>
  /** Lost during the work: the lease was broken, or renewals stayed unanswered until it may have ended. */
  | { readonly kind: 'lost'; readonly code: string }

/**
 * Runs `work` under the lease of a stream: acquires and renews it, aborts the work's signal when the lease is lost or
 * can no longer be trusted (`LeaseMonitor`), and releases it on every exit.
 *
 * @throws what `work` throws, unless the lease was lost
 */
export async function leaseScope<T>(
  store: StreamStore,
  name: string,
  options: HoldLeaseOptions,
  work: (lease: HeldLease) => Promise<T>,
): Promise<LeaseScopeOutcome<T>> {
  const lease = new LeaseMonitor(store, name, { leaseId: randomUUID(), durationS: options.durationS ?? 30 })
  const outcome = await acquireOrRelease(lease, options)
  if (outcome.kind !== 'acquired') return outcome
  const renewal = keepRenewed(lease, options.signal)
  const ended = await outcomeOf(() => work({ leaseId: lease.leaseId, signal: renewal.signal }))
  const lostBefore = renewal.lostByNow()
  renewal.stop()
  // That another has had the lease since the last renewal shows only now.
  const lostAtLast = await lease.release()
  const code = lostBefore ?? lostAtLast
  if (code !== undefined) return { kind: 'lost', code }
  if (ended.kind === 'failed') throw ended.error
  return ended
}

async function outcomeOf<T>(work: () => Promise<T>) {
  try {
    return { kind: 'done', value: await work() } as const
  } catch (error) {
    return { kind: 'failed', error } as const
  }
}

/** How long a release is waited for that follows an error, ms: then it goes on in the background. */
export const RELEASE_MS = 2_000

/** Releases the lease after an unanswered or aborted acquire, which may have been granted. */
async function acquireOrRelease(lease: LeaseMonitor, options: HoldLeaseOptions): Promise<AcquireOutcome> {
  try {
    const outcome = await acquireWaiting(lease, options)
    if (outcome.kind === 'unknown') await lease.release()
    return outcome
  } catch (error) {
    await within(RELEASE_MS, lease.release())
    throw error
  }
}

/**
 * Acquires a lease; waits with back-off while another process holds it. @param options `record` as in
 * `store.acquireLease`
 */
export async function acquireWaiting(
  lease: LeaseMonitor,
  { holder, signal, record = false, waitMs = 10_000 }: HoldLeaseOptions & { readonly record?: boolean },
): Promise<AcquireOutcome> {
  const giveUpAt = performance.now() + waitMs
  for (let attempt = 0; ; attempt++) {
    signal?.throwIfAborted()
    const outcome = await lease.acquire({ holder, record, ...(signal && { signal }) })
    if (outcome.kind !== 'held' || performance.now() >= giveUpAt) return outcome
    await sleepUntilAborted(Math.min(backOff(attempt, Math.random), giveUpAt - performance.now()), signal)
  }
}

/** Interval of checks and renewals, ms. It is short because timers stop while the machine sleeps. */
const CHECK_MS = 1_000

/** Renews the lease until it is stopped or the lease is lost. */
function keepRenewed(lease: LeaseMonitor, outer: AbortSignal | undefined) {
  const controller = new AbortController()
  let lost: string | undefined
  const lose = (code: string) => {
    lost ??= code
    clearInterval(timer)
    controller.abort(new DOMException(`the lease of ${lease.name} was lost (${code})`, 'AbortError'))
  }
  const check = () => {
    if (!lease.isTrusted) lose('deadline')
  }
  const renew = async () => {
    const renewal = await lease.renew(stopped.signal).catch(() => undefined)
    if (renewal?.kind === 'lost' && !stopped.signal.aborted) lose(renewal.code)
  }
  const stopped = new AbortController()
  const timer = setInterval(() => {
    check()
    if (lost === undefined && lease.isDue) void renew()
  }, CHECK_MS)
  check()
  return {
    signal: outer === undefined ? controller.signal : AbortSignal.any([controller.signal, outer]),
    /** The code if the lease is lost. Checks the lease now: blocking work or sleep may have delayed the timer. */
    lostByNow() {
      check()
      return lost
    },
    stop() {
      clearInterval(timer)
      stopped.abort()
    },
  }
}

import { randomUUID } from 'node:crypto'
import { backOff } from '../store/backoff.ts'
import type { AcquireOutcome, EventStore, Holder } from '../store/store.ts'
import { sleepUntilAborted } from '../util/concurrency.ts'

export interface LeaseScopeOptions {
  readonly holder: Holder
  /** Seconds, 15–60. Default 30. It is renewed at a third of it. */
  readonly durationS?: number
  /** How long to wait for a lease held by another, ms. Default 10 000; 0 = one try. */
  readonly waitMs?: number
  readonly signal?: AbortSignal
}

/** The lease while it is held. */
export interface HeldLease {
  readonly leaseId: string
  /** Aborts when the lease is lost or cannot be renewed in time: stop at once, write nothing more. */
  readonly signal: AbortSignal
}

/** What became of work under a lease. */
export type LeaseScopeOutcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  | Exclude<AcquireOutcome, { readonly kind: 'acquired' }>
  /** Lost while the work ran: somebody broke it, or renewals stayed unanswered until it could have ended. */
  | { readonly kind: 'lost'; readonly code: string }

/**
 * Runs `work` while the lease of a stream is held: acquire, renew, abort the work's signal when the lease is lost,
 * release on every exit. The deadline counts from *sending* the last acquire or renewal that was answered, less a
 * third, time in which the machine slept included: an unanswered renewal neither extends it nor counts as a loss.
 *
 * @throws what `work` throws, unless the lease was lost
 */
export async function leaseScope<T>(
  store: EventStore,
  name: string,
  options: LeaseScopeOptions,
  work: (lease: HeldLease) => Promise<T>,
): Promise<LeaseScopeOutcome<T>> {
  const leaseId = randomUUID()
  const durationS = options.durationS ?? 30
  const { outcome, sentAt } = await acquireOrLeave(store, name, leaseId, durationS, options)
  if (outcome.kind !== 'acquired') return outcome
  const renewal = keepRenewed(store, name, leaseId, durationS, sentAt, options.signal)
  try {
    const value = await work({ leaseId, signal: renewal.signal })
    const code = renewal.lostByNow()
    return code === undefined ? { kind: 'done', value } : { kind: 'lost', code }
  } catch (error) {
    const code = renewal.lostByNow()
    if (code !== undefined) return { kind: 'lost', code }
    throw error
  } finally {
    renewal.stop()
    await releaseQuietly(store, name, leaseId)
  }
}

/** An acquire that has no answer, or was given up on its way, may have happened. */
async function acquireOrLeave(...[store, name, leaseId, durationS, options]: Parameters<typeof acquireWaiting>) {
  try {
    const acquired = await acquireWaiting(store, name, leaseId, durationS, options)
    if (acquired.outcome.kind === 'unknown') await releaseQuietly(store, name, leaseId)
    return acquired
  } catch (error) {
    await releaseQuietly(store, name, leaseId)
    throw error
  }
}

/**
 * Takes a lease, waiting with back-off while another holds it.
 *
 * @param options `record` as `store.acquire` takes it
 * @returns the last answer, and when its request was sent
 */
export async function acquireWaiting(
  store: EventStore,
  name: string,
  leaseId: string,
  durationS: number,
  options: Omit<LeaseScopeOptions, 'durationS'> & { readonly record?: boolean },
) {
  const giveUpAt = performance.now() + (options.waitMs ?? 10_000)
  for (let attempt = 0; ; attempt++) {
    options.signal?.throwIfAborted()
    const sentAt = bothClocks()
    const { holder, signal, record = false } = options
    const outcome = await store.acquire(name, { leaseId, durationS, holder, record, ...(signal && { signal }) })
    if (outcome.kind !== 'held' || performance.now() >= giveUpAt) return { outcome, sentAt }
    await sleepUntilAborted(Math.min(backOff(attempt, Math.random), giveUpAt - performance.now()), signal)
  }
}

/** How often it is looked whether the lease can still be trusted, ms: timers sleep with the machine. */
const LOOK_MS = 1_000

/** Renews at a third of the duration until stopped. */
function keepRenewed(
  store: EventStore,
  name: string,
  leaseId: string,
  durationS: number,
  acquiredAt: Clocks,
  outer: AbortSignal | undefined,
) {
  const controller = new AbortController()
  const lifeMs = (durationS * 1000 * 2) / 3
  const state = { lost: undefined as string | undefined, stopped: false, since: acquiredAt }
  const lose = (code: string) => {
    state.lost ??= code
    controller.abort(new DOMException(`the lease of ${name} was lost (${code})`, 'AbortError'))
  }
  const look = () => {
    if (elapsedMs(state.since) >= lifeMs) lose('deadline')
  }
  const renew = async () => {
    const sentAt = bothClocks()
    const outcome = await store.renew(name, leaseId).catch(cause => ({ kind: 'unknown', cause }) as const)
    if (outcome.kind === 'unknown' || state.stopped) return
    if (outcome.kind !== 'ok') return lose(outcome.kind === 'lost' ? outcome.code : 'BlobNotFound')
    if (sentAt.monotonicMs > state.since.monotonicMs) state.since = sentAt
  }
  look()
  const timers = [setInterval(look, LOOK_MS), setInterval(() => void renew(), (durationS * 1000) / 3)]
  return {
    signal: outer === undefined ? controller.signal : AbortSignal.any([controller.signal, outer]),
    /** The code, if the lease is lost. It looks itself: work that blocks, or a machine that slept, keeps timers from it. */
    lostByNow() {
      look()
      return state.lost
    },
    stop() {
      state.stopped = true
      for (const timer of timers) clearInterval(timer)
    },
  }
}

interface Clocks {
  readonly monotonicMs: number
  readonly wallMs: number
}

function bothClocks(): Clocks {
  return { monotonicMs: performance.now(), wallMs: Date.now() }
}

/** The monotonic clock stands still while the machine is suspended, the wall clock may be set back: the longer time counts. */
function elapsedMs({ monotonicMs, wallMs }: Clocks): number {
  return Math.max(performance.now() - monotonicMs, Date.now() - wallMs)
}

/** A release that is refused or unanswered is fine: a finite lease ends by itself. */
async function releaseQuietly(store: EventStore, name: string, leaseId: string): Promise<void> {
  await store.release(name, leaseId).catch(() => undefined)
}

import { Patience } from '../store/backoff.ts'
import type { EventStore, RemoveOutcome } from '../store/store.ts'

export interface RemoveStreamOptions {
  /** Only if this is still the stream's ETag. */
  readonly etag?: string
  /** Remove under this lease, which the caller holds. */
  readonly leaseId?: string
  /** How long to wait for a lease held by another, ms; 0 = one try. */
  readonly leaseWaitMs: number
  /** Ends that wait: `held`. */
  readonly stopWaiting?: AbortSignal
  /** In [0, 1), for the jitter of the wait. Default `Math.random`. */
  readonly random?: () => number
}

/** What became of it; `held` tells how long was waited, ms. */
export type RemoveStreamOutcome =
  | Exclude<RemoveOutcome, { readonly kind: 'held' }>
  | (Extract<RemoveOutcome, { readonly kind: 'held' }> & { readonly waitedMs: number })

/**
 * Removes a stream for good, with its journal. Where another holds its lease, waits for the lease to end.
 *
 * @throws the store's faults: nothing was removed
 */
export async function removeStream(
  store: EventStore,
  name: string,
  { etag, leaseId, leaseWaitMs, stopWaiting, random = Math.random }: RemoveStreamOptions,
): Promise<RemoveStreamOutcome> {
  const patience = new Patience({ limitMs: leaseWaitMs, random, stop: stopWaiting })
  const conditions = { ...(etag === undefined ? {} : { etag }), ...(leaseId === undefined ? {} : { leaseId }) }
  for (;;) {
    const outcome = await store.remove(name, conditions)
    if (outcome.kind !== 'held') return outcome
    if (!(await patience.pause())) return { ...outcome, waitedMs: patience.waitedMs }
  }
}

import { RetryBudget } from '../store/backoff.ts'
import { StoreClosed, StoreUnreachable } from '../store/errors.ts'
import type { RemoveOutcome, StreamStore } from '../store/store.ts'
import { removeLifeData } from './event-data.ts'
import { readStream } from './read-stream.ts'

export interface RemoveStreamOptions {
  /** Only if this is still the stream's ETag. */
  readonly etag?: string
  /** The incarnation to remove (`lc:born`): distinguishes it from a newer stream of the same name. */
  readonly born?: string
  /** Remove under this lease, which the caller holds. */
  readonly leaseId?: string
  /** How long to wait for a lease held by another, ms; 0 = one try. */
  readonly leaseWaitMs: number
  /** Ends the wait: `held`. */
  readonly stopWaiting?: AbortSignal
  /** In [0, 1), for the jitter of the wait. Default `Math.random`. */
  readonly random?: () => number
}

/** The outcome of a removal; `waitedMs`: how long it waited for the lease. */
export type RemoveStreamOutcome =
  /** The stream is gone, and another one has its name. */
  | { readonly kind: 'replaced' }
  | Exclude<RemoveOutcome, { readonly kind: 'held' }>
  | (Extract<RemoveOutcome, { readonly kind: 'held' }> & { readonly waitedMs: number })

/**
 * Removes a stream with its journal and, if `born` is given, its data. Waits if another process holds the lease.
 *
 * @throws the store's faults: nothing was removed
 */
export async function removeStream(
  store: StreamStore,
  name: string,
  { etag, born, leaseId, leaseWaitMs, stopWaiting, random = Math.random }: RemoveStreamOptions,
): Promise<RemoveStreamOutcome> {
  const patience = new RetryBudget({ limitMs: leaseWaitMs, random, stop: stopWaiting })
  const conditions = { ...(etag === undefined ? {} : { etag }), ...(leaseId === undefined ? {} : { leaseId }) }
  for (;;) {
    const outcome = await store.remove(name, conditions)
    if (outcome.kind === 'held' && (await patience.pause())) continue
    // A repetition may find the stream gone, and its data still there.
    if ((outcome.kind === 'removed' || outcome.kind === 'missing') && born) await removeData(store, name, born)
    const result = outcome.kind === 'held' ? { ...outcome, waitedMs: patience.waitedMs } : outcome
    return isRefused(outcome) ? ((await stateAfterRefusal(store, name, born)) ?? result) : result
  }
}

/** The stream is gone whatever happens here: `doctor --repair` removes what is left. */
async function removeData(store: StreamStore, stream: string, born: string): Promise<void> {
  await removeLifeData(store, { stream, born }).catch(() => 0)
}

function isRefused({ kind }: RemoveOutcome): boolean {
  return kind === 'held' || kind === 'changed' || kind === 'lost'
}

/**
 * Checks a refused delete with a read: the refusal may belong to a network duplicate of the applied one. `undefined`:
 * the refusal is right.
 */
async function stateAfterRefusal(
  store: StreamStore,
  name: string,
  born: string | undefined,
): Promise<RemoveStreamOutcome | undefined> {
  try {
    const view = await readStream(store, name)
    if (view === undefined) return { kind: 'missing' }
    return born === undefined || view.document.born === born ? undefined : { kind: 'replaced' }
  } catch (cause) {
    return cause instanceof StoreUnreachable || cause instanceof StoreClosed ? { kind: 'unknown', cause } : undefined
  }
}

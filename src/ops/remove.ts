import { RetryBudget } from '../store/backoff.ts'
import { StoreUnreachable } from '../store/errors.ts'
import type { RemoveOutcome, StreamStore } from '../store/store.ts'
import { readStream } from './read-stream.ts'

export interface RemoveStreamOptions {
  /** Only if this is still the stream's ETag. */
  readonly etag?: string
  /** The life of the stream that is to go (`lc:born`): by it one that has its name since is told apart. */
  readonly born?: string
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
  /** That stream is gone, and another one has its name. */
  | { readonly kind: 'replaced' }
  | Exclude<RemoveOutcome, { readonly kind: 'held' }>
  | (Extract<RemoveOutcome, { readonly kind: 'held' }> & { readonly waitedMs: number })

/**
 * Removes a stream for good, with its journal. Where another holds its lease, waits for the lease to end.
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
    const said = outcome.kind === 'held' ? { ...outcome, waitedMs: patience.waitedMs } : outcome
    return isRefused(outcome) ? ((await seenAfter(store, name, born)) ?? said) : said
  }
}

function isRefused({ kind }: RemoveOutcome): boolean {
  return kind === 'held' || kind === 'changed' || kind === 'lost'
}

/**
 * The network may have doubled the delete, and the copy that was refused be the one behind that which was applied: what is there
 * now tells. `undefined`: the refusal stands.
 */
async function seenAfter(
  store: StreamStore,
  name: string,
  born: string | undefined,
): Promise<RemoveStreamOutcome | undefined> {
  try {
    const view = await readStream(store, name)
    if (view === undefined) return { kind: 'missing' }
    return born === undefined || view.document.born === born ? undefined : { kind: 'replaced' }
  } catch (cause) {
    return cause instanceof StoreUnreachable ? { kind: 'unknown', cause } : undefined
  }
}

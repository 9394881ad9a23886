import type { RemoveOutcome } from '../store.ts'
import type { BlobIO } from './blobs.ts'
import { isBlobMissing, isHeldByAnother, isLeaseGone, isSomebodyWrote } from './errors.ts'
import type { AzureLeases } from './leases.ts'
import type { AzureRequests } from './requests.ts'

const TRIES = 3

export interface RemoveOptions {
  readonly etag?: string
  readonly leaseId?: string
  readonly signal?: AbortSignal
}

/**
 * Deletes a blob and its snapshots. An unanswered delete is looked after: gone means removed. It is repeated only with
 * an ETag, for without one the repeat could hit a stream that was created since. What keeps the repeat out may be such a
 * stream as well, and a repeat that is refused says nothing of the first try: then nothing is known of that. Nor is anything known
 * of one that the caller gave up while it was under way.
 */
export async function removeBlob(
  parts: { calls: AzureRequests; bodies: BlobIO; leases: AzureLeases },
  name: string,
  options: RemoveOptions,
): Promise<RemoveOutcome> {
  const { calls, bodies, leases } = parts
  const { etag, leaseId, signal } = options
  const blob = bodies.anyBlob(name)
  const conditions = { ...(etag === undefined ? {} : { ifMatch: etag }), ...(leaseId === undefined ? {} : { leaseId }) }
  let doubt: Error | undefined
  signal?.throwIfAborted()
  for (let tried = 1; ; tried += 1) {
    const send = (abortSignal: AbortSignal) => blob.delete({ abortSignal, conditions, deleteSnapshots: 'include' })
    const answer = await calls.send(send, { limitMs: calls.limits.leaseMs, signal }).catch(error => {
      if (signal?.aborted) return { kind: 'given up', error } as const
      throw error
    })
    if (answer.kind === 'given up') return { kind: 'unknown', cause: doubt ?? answer.error }
    if (answer.kind === 'done') return { kind: 'removed' }
    const { error } = answer
    if (isBlobMissing(error)) return tried === 1 ? { kind: 'missing' } : { kind: 'removed' }
    const isUnsent = answer.kind === 'refused' || answer.silences === 0
    const isKeptOut = isHeldByAnother(error) || isLeaseGone(error) || isSomebodyWrote(error)
    if ((isKeptOut || isUnsent) && doubt !== undefined) return { kind: 'unknown', cause: doubt }
    if (isHeldByAnother(error)) return { kind: 'held', lease: (await leases.heldBy(name, signal)).lease }
    if (isLeaseGone(error)) return { kind: 'lost', code: error.code }
    if (isSomebodyWrote(error)) return { kind: 'changed' }
    if (isUnsent) throw calls.fault(error, name)
    doubt = calls.fault(error, name)
    const seen = await lookedUp(bodies, name, signal)
    if (seen === 'gone') return { kind: 'removed' }
    if (etag === undefined || tried >= TRIES || seen === 'no answer') return { kind: 'unknown', cause: doubt }
  }
}

async function lookedUp(bodies: BlobIO, name: string, signal?: AbortSignal): Promise<'gone' | 'there' | 'no answer'> {
  try {
    return (await bodies.head(name, signal)) === undefined ? 'gone' : 'there'
  } catch {
    return 'no answer'
  }
}

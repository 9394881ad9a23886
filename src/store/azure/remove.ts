import { defined } from '../../util/defined.ts'
import type { RemoveOutcome } from '../store.ts'
import type { BlobIO } from './blobs.ts'
import { isBlobMissing, isConflict, isHeldByAnother, isLeaseGone } from './errors.ts'
import type { AzureLeases } from './leases.ts'
import type { AzureRequests } from './requests.ts'

const ATTEMPTS = 3

export interface RemoveOptions {
  readonly etag?: string
  readonly leaseId?: string
  readonly signal?: AbortSignal
}

/**
 * Deletes a blob and its snapshots. After an unanswered delete a HEAD follows: if the blob is gone, it was removed. The delete
 * is repeated only with an ETag, because without one it could hit a stream that was created since. If the repeat is rejected,
 * the cause may be such a new stream, and the outcome of the first attempt is unknown. So is that of a delete
 * aborted in flight.
 */
export async function removeBlob(
  parts: { calls: AzureRequests; bodies: BlobIO; leases: AzureLeases },
  name: string,
  options: RemoveOptions,
): Promise<RemoveOutcome> {
  const { calls, bodies, leases } = parts
  const { etag, leaseId, signal } = options
  const blob = bodies.anyBlob(name)
  const conditions = defined({ ifMatch: etag, leaseId })
  let doubt: Error | undefined
  signal?.throwIfAborted()
  for (let attempt = 1; ; attempt += 1) {
    const send = (abortSignal: AbortSignal) => blob.delete({ abortSignal, conditions, deleteSnapshots: 'include' })
    const answer = await calls.send(send, { limitMs: calls.limits.leaseMs, signal }).catch(error => {
      if (signal?.aborted) return { kind: 'aborted', error } as const
      throw error
    })
    if (answer.kind === 'aborted') return { kind: 'unknown', cause: doubt ?? answer.error }
    if (answer.kind === 'done') return { kind: 'removed' }
    const { error } = answer
    if (isBlobMissing(error)) return attempt === 1 ? { kind: 'missing' } : { kind: 'removed' }
    const isUnsent = answer.kind === 'refused' || answer.unansweredAttempts === 0
    const isKeptOut = isHeldByAnother(error) || isLeaseGone(error) || isConflict(error)
    if ((isKeptOut || isUnsent) && doubt !== undefined) return { kind: 'unknown', cause: doubt }
    if (isHeldByAnother(error)) return { kind: 'held', lease: (await leases.heldBy(name, signal)).lease }
    if (isLeaseGone(error)) return { kind: 'lost', code: error.code }
    if (isConflict(error)) return { kind: 'changed' }
    if (isUnsent) throw calls.fault(error, name)
    doubt = calls.fault(error, name)
    const presence = await presenceOf(bodies, name, signal)
    if (presence === 'gone') return { kind: 'removed' }
    if (etag === undefined || attempt >= ATTEMPTS || presence === 'unknown') return { kind: 'unknown', cause: doubt }
  }
}

async function presenceOf(bodies: BlobIO, name: string, signal?: AbortSignal): Promise<'gone' | 'present' | 'unknown'> {
  try {
    return (await bodies.head(name, signal)) === undefined ? 'gone' : 'present'
  } catch {
    return 'unknown'
  }
}

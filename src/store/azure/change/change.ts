import type { ChangeOutcome } from '../../store.ts'
import type { BlobState } from '../blobs.ts'
import type { ChangeAttempt } from './attempt.ts'

/**
 * How a change gets at the stream: `LeasedWrite` keeps other writers out with a lease, `OptimisticWrite` relies on the
 * ETag alone. Where a step returns `retry`, the protocol starts over with the next round.
 */
export interface WriteStrategy {
  /** Called once, before the first round: yields to the writers that wait. */
  begin(): Promise<void>
  /** Gets the lease, if it takes one, and the state to decide on; or the outcome if the stream cannot be had. */
  enter(): Promise<Entry | ChangeOutcome | 'retry'>
  /** Whether a Put may be sent now, and the lease it has to name. */
  permit(): Promise<PutPermit | ChangeOutcome | 'retry'>
  /** The Put failed because of another write. Returns the strategy of the next round. */
  onConflict(): Promise<WriteStrategy>
  /** The Put failed because of a lease. Returns the strategy of the next round. */
  onLeaseRejected(code: string): Promise<WriteStrategy>
  /** Called once, after the last round: releases or keeps what the change had. @param written the state it wrote */
  end(written: BlobState | undefined): void
}

/** The state to decide on. A cached one was written by this process and not read since. */
export type Entry =
  | { readonly kind: 'read'; readonly state: BlobState | undefined }
  | { readonly kind: 'cached'; readonly state: BlobState }

export interface PutPermit {
  readonly kind: 'permit'
  readonly leaseId: string | undefined
}

/**
 * The protocol of a change, from top to bottom.
 *
 * 1. *Enter.* Under a lease: acquire it, with a GET beside the acquire. The acquire returns the blob's ETag; if the GET
 *    returned the same one it was not too early. Without a lease: a GET, or the state this process wrote last.
 * 2. *Decide.* `decide` makes a new document of the state, or wants no write (the command is refused, or is already in
 *    the document). The latter counts only on a state that was read.
 * 3. *Put.* One request, sent once, with `If-Match` and the lease id. So of all Puts that name one ETag at most one is
 *    applied, also those of this process that were lost on their way and arrive late.
 * 4. *What the end of the Put means.* 201: committed. Anything else leads to the next round, which reads and decides
 *    again; a failed condition does too, because the network may have duplicated the Put and the copy may have been applied.
 *    If the next read finds another ETag, the Put is either in the document, where `decide` finds its command id, or it
 *    has failed for good. If the read finds the same ETag, the Put is *in doubt*: it may still be applied. The
 *    next Put names the same ETag, so at most one of the two wins.
 * 5. *Release.* Goes on in the background after the outcome was returned, or the next change reuses the lease.
 *
 * A decision whose Put is not sent is discarded. The outcomes:
 *
 * - `committed`: a Put was answered with 201. Or `decide` wanted no write, and the document is one this change sent, or a Put
 *   in doubt may have been applied before the state that `decide` saw; which of these it is, only `decide` can know.
 * - `left`: `decide` wanted no write, and no Put of this change was or can still be applied.
 * - `held`, `lost`, `missing`: no Put of this change was or can still be applied.
 * - `unknown`: a Put is in doubt, and no read could tell before the deadline, a fault or the caller's abort.
 *
 * @throws faults, the caller's abort and what `decide` throws, as long as no Put is in doubt
 */
export async function changeStream(attempt: ChangeAttempt, strategy: WriteStrategy): Promise<ChangeOutcome> {
  let current = strategy
  let written: BlobState | undefined
  try {
    attempt.options.signal?.throwIfAborted()
    await current.begin()
    for (;;) {
      attempt.checkDeadline()
      const entry = await current.enter()
      if (entry === 'retry') continue
      if (entry.kind !== 'read' && entry.kind !== 'cached') return entry

      const decided = entry.kind === 'read' ? attempt.decide(entry.state) : attempt.decideOnCached(entry.state)
      if (decided === undefined) continue
      if (decided.kind !== 'write') return decided

      const permit = await current.permit()
      if (permit === 'retry' || permit.kind !== 'permit') {
        decided.decision.discard?.()
        if (permit === 'retry') continue
        return permit
      }

      const put = await attempt.put(decided, permit.leaseId)
      switch (put.kind) {
        case 'written':
          written = put.state
          return { kind: 'committed', etag: written.stored.etag }
        case 'unanswered':
          await attempt.pauseAfterUnanswered(put.error)
          break
        case 'conflict':
          current = await current.onConflict()
          break
        case 'lease-rejected':
          current = await current.onLeaseRejected(put.code)
      }
    }
  } catch (error) {
    if (attempt.inDoubt.write === undefined) throw error
    return { kind: 'unknown', cause: attempt.inDoubt.write.cause ?? error }
  } finally {
    current.end(written)
  }
}

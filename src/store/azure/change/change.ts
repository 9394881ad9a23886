import type { ChangeOutcome } from '../../store.ts'
import type { BlobState } from '../blobs.ts'
import type { ChangeAttempt } from './attempt.ts'

/**
 * The protocol of a change, from top to bottom.
 *
 * 1. *Enter.* Under a lease: acquire it, and read in parallel. The acquire returns the ETag of the blob; if it equals the ETag
 *    of the read, no one wrote in between. Soon after a write of this process the state that it wrote takes the place of the
 *    read. Without a lease: read, or take the state that this process wrote last.
 * 2. *Decide.* `decide` either makes a new document from the state or wants no write (the command is refused, or it is
 *    already in the document). It is trusted to want no write only on a state that was read.
 * 3. *Put.* One request, sent once, with `If-Match` and the lease id. Of all Puts that name the same ETag at most one is
 *    applied, even if one of them got lost on its way and arrives late.
 * 4. *Result of the Put.* 201: committed. After any other result the next round reads and decides again, even
 *    after a failed condition: the network may have duplicated the Put, and the first copy made the condition fail for
 *    the second. If the ETag has changed, the Put is in the document, where `decide` finds its command id, or it has
 *    failed for good. If the ETag is the same, the Put is *in doubt*: it may still be applied. The next Put then
 *    names the same ETag, so that only one of the two can win.
 * 5. *Release.* It continues in the background after the outcome is returned, unless the next change reuses the lease.
 *
 * If no Put is sent for a decision, the decision is discarded. The outcomes are:
 *
 * - `committed`: a Put was answered with 201. Or `decide` wants no write, and the document is one that this change sent, or
 *   a Put in doubt may have been applied before the state that `decide` saw; only `decide` can know which.
 * - `left`: `decide` wants no write, and no Put of this change was applied or can still be.
 * - `held`, `lost`, `missing`: no Put of this change was applied or can still be.
 * - `unknown`: a Put is in doubt, and the deadline, a fault or the caller's abort came before a read that could settle it.
 *
 * @throws faults, the caller's abort and errors of `decide`, as long as no Put is in doubt
 */
export async function changeStream(attempt: ChangeAttempt, strategy: WriteStrategy): Promise<ChangeOutcome> {
  let current = strategy
  let written: BlobState | undefined
  try {
    attempt.options.signal?.throwIfAborted()
    await current.begin()
    for (;;) {
      attempt.checkDeadline()
      // 1. Enter.
      const entry = await current.enter()
      if (entry === 'retry') continue
      if (entry.kind !== 'read' && entry.kind !== 'cached') return entry

      // 2. Decide.
      const decided = entry.kind === 'read' ? attempt.decide(entry.state) : attempt.decideOnCached(entry.state)
      if (decided === 'retry') continue
      if (decided.kind !== 'write') return decided

      // 3. Put.
      const permit = await current.permit()
      if (permit === 'retry' || permit.kind !== 'permit') {
        decided.decision.discard?.()
        if (permit === 'retry') continue
        return permit
      }
      const put = await attempt.put(decided, permit.leaseId)

      // 4. Result of the Put.
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
    // 5. Release.
    current.end(written)
  }
}

/**
 * Concurrency control of a change: `LeasedWrite` excludes other writers with a lease, `OptimisticWrite` relies on the ETag
 * alone. If a step returns `retry`, the protocol continues with the next round.
 */
export interface WriteStrategy {
  /** Called once, on the first strategy of the change: yields to waiting writers. */
  begin(): Promise<void>
  /** Acquires the lease, if needed, and gets the state to decide on; or the outcome if the stream is held or missing. */
  enter(): Promise<FoundState | ChangeOutcome | 'retry'>
  /** Whether a Put may be sent now, and under which lease. */
  permit(): Promise<PutPermit | ChangeOutcome | 'retry'>
  /** The Put failed because of another write. Returns the strategy of the next round. */
  onConflict(): Promise<WriteStrategy>
  /** The Put failed because of a lease. Returns the strategy of the next round. */
  onLeaseRejected(code: string): Promise<WriteStrategy>
  /**
   * Called once, on the last strategy of the change: releases the lease, or keeps it for the next change.
   *
   * @param written the state that the change wrote
   */
  end(written: BlobState | undefined): void
}

/** The state to decide on. A cached one was written by this process and not read since. */
export type FoundState =
  | { readonly kind: 'read'; readonly state: BlobState | undefined }
  | { readonly kind: 'cached'; readonly state: BlobState }

export interface PutPermit {
  readonly kind: 'permit'
  readonly leaseId: string | undefined
}

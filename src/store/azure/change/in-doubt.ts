import type { BlobState } from '../blobs.ts'

/** A Put that may have been applied, or may still be. */
export interface InDoubtWrite {
  /** Its ETag condition: it can be applied to this state only. */
  readonly etag: string
  /** Its lease: it can be applied only while that holds. Without one, only while there is no lease at all. */
  readonly leaseId: string | undefined
  /** Why there was no answer; `undefined` while the Put is in flight. */
  readonly cause: unknown
  /**
   * Set if the service rejected it: the network may have duplicated it, and the copy may have been applied before. If not, the
   * write that was in doubt `earlier` still is.
   */
  readonly rejected?: { readonly earlier: InDoubtWrite | undefined }
}

/** End of a Put. */
export interface PutEnd {
  readonly md5: string
  /** `rejected`: a condition failed, perhaps because a copy of the Put was applied. `failed`: for any other reason. */
  readonly result: 'applied' | 'failed' | 'rejected' | 'unanswered'
  /** Why it was not answered. */
  readonly cause?: unknown
}

/**
 * The Puts of one change whose outcome is not known from answers and reads.
 *
 * A Put names the ETag it replaces. As long as a read finds that ETag, the Put has not been applied but still may be; once
 * a read finds another, the Put is either in the document (`decide` finds its command id there) or has failed for good.
 */
export class InDoubtWrites {
  readonly #sentMd5s = new Set<string>()
  #write: InDoubtWrite | undefined
  /** A lease that has certainly ended, with the service's error code. */
  #endedLease: { readonly leaseId: string; readonly code: string } | undefined

  /** The Put in doubt. Of all Puts on one ETag at most one can win, so one is enough to remember. */
  get write(): InDoubtWrite | undefined {
    return this.#write
  }

  /** The error code with which the caller's lease was lost. */
  get lostCode(): string | undefined {
    return this.#endedLease?.code
  }

  /** A Put is about to be sent. Call the returned function at its end; until then it is in doubt. */
  begin(etag: string, leaseId: string | undefined): (end: PutEnd) => void {
    const earlier = this.#write
    // An earlier Put without a lease, in flight for the same ETag, outlives any lease: both together count as one without.
    const outlivesLease = earlier?.etag === etag && earlier.leaseId === undefined
    const sent = { etag, leaseId: outlivesLease ? undefined : leaseId }
    this.#write = { ...sent, cause: undefined }
    return ({ md5, result, cause }) => {
      this.#sentMd5s.add(md5)
      if (result === 'applied') this.#write = undefined
      else if (result === 'failed') this.#write = earlier
      else if (result === 'rejected' && leaseId === undefined) this.#write = { ...sent, cause, rejected: { earlier } }
      else this.#write = { ...sent, cause }
    }
  }

  /** The service confirmed the end of the lease: nothing can be applied under it any more. */
  leaseEnded(leaseId: string, code: string): void {
    this.#endedLease = { leaseId, code }
  }

  /** Another lease was acquired, so the lease of a Put in doubt has ended. */
  otherLeaseAcquired(): void {
    const leaseId = this.#write?.leaseId
    if (leaseId !== undefined) this.leaseEnded(leaseId, 'LeaseLost')
  }

  /**
   * A read found this state, or no stream (`undefined`). If the ETag is still the one that the Put named, the Put was not applied
   * before the read. It never will be if its lease had ended by then; and no copy of a rejected Put was applied.
   */
  observe(state: BlobState | undefined): void {
    const write = this.#write
    if (write === undefined || (state !== undefined && write.etag !== state.stored.etag)) return
    if (write.rejected !== undefined) this.#write = write.rejected.earlier
    else if (state !== undefined && write.leaseId !== undefined && write.leaseId === this.#endedLease?.leaseId)
      this.#write = undefined
  }

  /** The command id is not in this state: a Put that named another ETag has failed for good. */
  ruleOut({ stored }: BlobState): void {
    if (this.#write?.etag !== stored.etag) this.#write = undefined
  }

  /** `decide` wants no write on this state: the outcome depends on whether one of this change's Puts may be in it. */
  resolve({ stored, md5 }: BlobState): 'committed' | 'left' | 'unknown' {
    if (this.#sentMd5s.has(md5)) return 'committed'
    if (this.#write === undefined) return 'left'
    return this.#write.etag === stored.etag ? 'unknown' : 'committed'
  }
}

import type { BlobState } from '../blobs.ts'

/** A Put that may have been applied, or may still be. */
export interface Ghost {
  /** The ETag it named: it can be applied on this one only. */
  readonly etag: string
  /** The lease it named: it can be applied only while this one lasts. Without one it can be while there is none at all. */
  readonly leaseId: string | undefined
  /** Why there was no answer; `undefined` while it is under way. */
  readonly cause: unknown
  /**
   * It was refused. What may have been applied is a copy that the network made of it, before the one that was refused; and
   * the ghost before it is as it was.
   */
  readonly refused?: { readonly earlier: Ghost | undefined }
}

/** How a Put ended. `refused`: by a condition, without a lease. */
export interface PutEnd {
  readonly md5: string
  readonly applied: boolean | 'unknown' | 'refused'
  readonly cause?: unknown
}

/** What became of the Puts of one change, as far as answers and reads tell. */
export class PutFate {
  readonly #sentMd5s = new Set<string>()
  #ghost: Ghost | undefined
  /** The lease that is over for sure, with the code that said so. */
  #over: { readonly leaseId: string; readonly code: string } | undefined

  /** The Put whose fate is open. There is never more than one on an ETag that can still win. */
  get ghost(): Ghost | undefined {
    return this.#ghost
  }

  /** Why the given lease counts as lost. */
  get lostCode(): string | undefined {
    return this.#over?.code
  }

  /** A Put is about to be sent. Call the returned function with its end; if that never comes, the Put stays a ghost. */
  sending(etag: string, leaseId: string | undefined): (end: PutEnd) => void {
    const earlier = this.#ghost
    // One without a lease that is still on its way to the same ETag outlives any lease: then both are one ghost without.
    const isFree = earlier?.etag === etag && earlier.leaseId === undefined
    const sent = { etag, leaseId: isFree ? undefined : leaseId }
    this.#ghost = { ...sent, cause: undefined }
    return ({ md5, applied, cause }) => {
      this.#sentMd5s.add(md5)
      if (applied === 'unknown') this.#ghost = { ...sent, cause }
      else if (applied === 'refused') this.#ghost = { ...sent, cause, refused: { earlier } }
      else this.#ghost = applied ? undefined : earlier
    }
  }

  /** The service said that the lease is over: nothing can be applied under it any more. */
  leaseIsOver(leaseId: string, code: string): void {
    this.#over = { leaseId, code }
  }

  /** Another lease could be acquired, so whatever lease a ghost had is over. */
  otherLeaseIsHeld(): void {
    const leaseId = this.#ghost?.leaseId
    if (leaseId !== undefined) this.leaseIsOver(leaseId, 'LeaseLost')
  }

  /**
   * A state was read, `undefined` if the stream is gone: with its lease over before that, a ghost that was not applied by
   * then never will be; and of one that was refused no copy was applied before.
   */
  read(state: BlobState | undefined): void {
    const ghost = this.#ghost
    if (ghost === undefined || (state !== undefined && ghost.etag !== state.stored.etag)) return
    if (ghost.refused !== undefined) this.#ghost = ghost.refused.earlier
    else if (state !== undefined && ghost.leaseId !== undefined && ghost.leaseId === this.#over?.leaseId)
      this.#ghost = undefined
  }

  /** The command is not in the state: a ghost that named another ETag has failed for good. */
  notIn({ stored }: BlobState): void {
    if (this.#ghost?.etag !== stored.etag) this.#ghost = undefined
  }

  /** `decide` left, seeing this state: whether that may be the work of one of our Puts. */
  whenLeft({ stored, md5 }: BlobState): 'committed' | 'left' | 'unknown' {
    if (this.#sentMd5s.has(md5)) return 'committed'
    if (this.#ghost === undefined) return 'left'
    return this.#ghost.etag === stored.etag ? 'unknown' : 'committed'
  }
}

import { lossDelay } from '../../backoff.ts'
import type { ChangeOutcome } from '../../store.ts'
import type { BlobState } from '../blobs.ts'
import type { ChangeAttempt } from './attempt.ts'
import type { Entry, PutPermit, WriteStrategy } from './change.ts'
import { LeasedWrite } from './leased.ts'

/** After so many conflicts the change goes on under the lease, where nobody can be faster. */
const MAX_CONFLICTS = 2

/**
 * Writes on the ETag alone, without a lease. It begins on the state this process wrote last, if that is most likely still
 * there, so that a change without contention takes one round trip.
 *
 * A lease that another writer holds keeps it out: the change waits for it as a leased one does. Holders are safe from it
 * too, because their Puts name their ETag: of two on the same one only one is applied. For a Put in doubt a lease means
 * nothing here: the Put named none, so it may be applied whenever there is none.
 *
 * A process that writes again and again is always faster than one that has to read first. So after two conflicts the
 * change acquires the lease.
 */
export class OptimisticWrite implements WriteStrategy {
  readonly #attempt: ChangeAttempt
  #cached: BlobState | undefined
  #conflicts = 0

  constructor(attempt: ChangeAttempt) {
    this.#attempt = attempt
  }

  async begin(): Promise<void> {
    const { context, name, wait } = this.#attempt
    const { contention } = context
    contention.releaseKept(name)
    await contention.yieldToOthers(name, wait)
    this.#cached = contention.cachedState(name)
  }

  async enter(): Promise<Entry | ChangeOutcome | 'retry'> {
    const attempt = this.#attempt
    attempt.context.contention.changeStarted(attempt.name)
    const cached = this.#cached
    this.#cached = undefined
    if (cached !== undefined) return { kind: 'cached', state: cached }
    const state = await attempt.read()
    return state === undefined || !isLeased(state) ? { kind: 'read', state } : this.#waitForLease(state)
  }

  async permit(): Promise<PutPermit> {
    return { kind: 'permit', leaseId: undefined }
  }

  async onConflict(): Promise<WriteStrategy> {
    const { context, name } = this.#attempt
    context.contention.contentionSeen(name)
    this.#conflicts += 1
    if (this.#conflicts >= MAX_CONFLICTS) return new LeasedWrite(this.#attempt)
    await this.#attempt.pause(lossDelay(context.calls.random))
    return this
  }

  /** Another writer holds a lease: waits for it. When `waitMs` is over, the next read finds who holds it. */
  async onLeaseRejected(): Promise<WriteStrategy> {
    const { context, name, wait } = this.#attempt
    context.contention.contentionSeen(name)
    return (await wait.nextTry()) ? this : this.onConflict()
  }

  end(written: BlobState | undefined): void {
    const { context, name } = this.#attempt
    if (written !== undefined) context.contention.cacheState(name, written)
  }

  /** The holder may be about to change what would be decided on. */
  async #waitForLease(state: BlobState): Promise<ChangeOutcome | 'retry'> {
    const attempt = this.#attempt
    const { context, inDoubt, name, wait } = attempt
    inDoubt.observe(state)
    const outcome = inDoubt.write === undefined ? undefined : attempt.resolveInDoubt(state)
    if (outcome !== undefined) return outcome
    context.contention.contentionSeen(name)
    if (await attempt.waitAfterRead()) return 'retry'
    const { lease, summary } = state.stored
    const lastBy = summary?.lastBy
    return attempt.unlessInDoubt({ kind: 'held', lease, waitedMs: wait.waitedMs, ...(lastBy ? { lastBy } : {}) })
  }
}

function isLeased({ stored }: BlobState): boolean {
  return stored.lease.state === 'leased' || stored.lease.state === 'breaking'
}

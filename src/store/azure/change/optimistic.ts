import { conflictDelay } from '../../backoff.ts'
import type { ChangeOutcome } from '../../store.ts'
import type { BlobState } from '../blobs.ts'
import type { ChangeAttempt } from './attempt.ts'
import type { FoundState, PutPermit, WriteStrategy } from './change.ts'
import { LeasedWrite } from './leased.ts'

/** After this many conflicts the change acquires the lease. */
const MAX_CONFLICTS = 2

/**
 * Writes with If-Match alone, without a lease. The first round decides on the state that this process wrote last, if that is most
 * likely still current: without contention a change takes one round trip.
 *
 * If another writer holds a lease, the change waits for it like a leased one. The holder is safe from this change too: both name
 * the ETag in their Puts, so only one is applied. A Put in doubt does not end with any lease, because it names none: it
 * may be applied as soon as the stream is not leased.
 *
 * A process that writes again and again is always faster than one that has to read first. So after two conflicts the
 * change acquires the lease.
 */
export class OptimisticWrite implements WriteStrategy {
  readonly #attempt: ChangeAttempt
  #cached: BlobState | undefined
  #conflicts = 0
  /** Whether the last read found the lease of another: the end of that wait is reported. */
  #wasLeased = false

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

  async enter(): Promise<FoundState | ChangeOutcome | 'retry'> {
    const attempt = this.#attempt
    attempt.context.contention.changeStarted(attempt.name)
    const cached = this.#cached
    this.#cached = undefined
    if (cached !== undefined) return { kind: 'cached', state: cached }
    const state = await attempt.read()
    if (state !== undefined && isLeased(state)) return this.#waitForLease(state)
    if (this.#wasLeased) attempt.attempts?.acquired(attempt.wait.waitedMs)
    this.#wasLeased = false
    return { kind: 'read', state }
  }

  async permit(): Promise<PutPermit> {
    return { kind: 'permit', leaseId: undefined }
  }

  async onConflict(): Promise<WriteStrategy> {
    const { context, name } = this.#attempt
    context.contention.contentionSeen(name)
    this.#conflicts += 1
    if (this.#conflicts >= MAX_CONFLICTS) return new LeasedWrite(this.#attempt)
    await this.#attempt.pause(conflictDelay(context.calls.random))
    return this
  }

  /** Another writer holds a lease: waits for it. After `waitMs` the next read shows the holder. */
  async onLeaseRejected(): Promise<WriteStrategy> {
    const { context, name, wait } = this.#attempt
    context.contention.contentionSeen(name)
    return (await wait.nextTry()) ? this : this.onConflict()
  }

  end(written: BlobState | undefined): void {
    const { context, name } = this.#attempt
    if (written !== undefined) context.contention.cacheState(name, written)
  }

  /** Waits, because the holder may be about to change the state. */
  async #waitForLease(state: BlobState): Promise<ChangeOutcome | 'retry'> {
    const attempt = this.#attempt
    const { context, inDoubt, name, wait } = attempt
    inDoubt.observe(state)
    const outcome = inDoubt.write === undefined ? undefined : attempt.resolveInDoubt(state)
    if (outcome !== undefined) return outcome
    context.contention.contentionSeen(name)
    const { lease, summary } = state.stored
    const lastBy = summary?.lastBy
    attempt.attempts?.held(wait.waitedMs, lease, lastBy)
    this.#wasLeased = true
    if (await attempt.waitAfterRead()) return 'retry'
    attempt.attempts?.gaveUp(wait.waitedMs)
    return attempt.unlessInDoubt({ kind: 'held', lease, waitedMs: wait.waitedMs, ...(lastBy ? { lastBy } : {}) })
  }
}

function isLeased({ stored }: BlobState): boolean {
  return stored.lease.state === 'leased' || stored.lease.state === 'breaking'
}

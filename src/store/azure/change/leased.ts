import type { ChangeOutcome } from '../../store.ts'
import type { BlobState } from '../blobs.ts'
import { isBlobMissing, isHeldByAnother } from '../errors.ts'
import type { ChangeAttempt } from './attempt.ts'
import type { FoundState, PutPermit, WriteStrategy } from './change.ts'
import { ChangeLease, LEASE_S } from './held-lease.ts'

type Acquired = { readonly kind: 'acquired'; readonly lease: ChangeLease; readonly etag: string }

/**
 * Writes under a lease: the caller's (`options.leaseId`), or one of 15 seconds acquired for this change. Right after another
 * change of this process it reuses the lease of that change, and decides on the state that it wrote. Soon after one it acquires
 * a new lease, whose answer shows by its ETag whether that state is still current.
 */
export class LeasedWrite implements WriteStrategy {
  readonly #attempt: ChangeAttempt
  #lease: ChangeLease | undefined
  #cached: BlobState | undefined

  constructor(attempt: ChangeAttempt) {
    this.#attempt = attempt
  }

  async begin(): Promise<void> {
    const { context, name, options, wait } = this.#attempt
    const { contention } = context
    const kept = options.leaseId === undefined ? contention.reuseLease(name) : undefined
    this.#lease = kept?.lease
    this.#cached = kept?.state
    if (options.leaseId === undefined && kept === undefined) await contention.yieldToOthers(name, wait)
    contention.changeStarted(name)
  }

  async enter(): Promise<FoundState | ChangeOutcome> {
    const cached = this.#cached
    this.#cached = undefined
    if (cached !== undefined) return { kind: 'cached', state: cached }
    if (this.#leaseId !== undefined) return { kind: 'read', state: await this.#attempt.read() }
    return this.#acquireBesideRead()
  }

  async permit(): Promise<PutPermit | ChangeOutcome | 'retry'> {
    const { inDoubt, options } = this.#attempt
    if (options.leaseId !== undefined && inDoubt.lostCode !== undefined) return { kind: 'lost', code: inDoubt.lostCode }
    if (options.leaseId !== undefined || this.#lease?.isTrusted) return { kind: 'permit', leaseId: this.#leaseId }
    await this.#releaseUntrusted()
    return 'retry'
  }

  /** Another writer came first although the lease seemed to hold, or a copy of the Put was applied: the next read shows which. */
  async onConflict(): Promise<WriteStrategy> {
    return this
  }

  async onLeaseRejected(code: string): Promise<WriteStrategy> {
    if (this.#leaseId !== undefined) this.#attempt.inDoubt.leaseEnded(this.#leaseId, code)
    this.#lease = undefined
    return this
  }

  end(written: BlobState | undefined): void {
    const { contention } = this.#attempt.context
    const { name } = this.#attempt
    if (written !== undefined) contention.cacheState(name, written)
    if (this.#lease !== undefined) contention.keepOrRelease(name, this.#lease, written)
  }

  get #leaseId(): string | undefined {
    return this.#attempt.options.leaseId ?? this.#lease?.id
  }

  /**
   * The read, or the state that this process wrote last, is valid if its ETag equals the acquire's. If not, or if the read
   * fails, the stream is read again under the lease.
   */
  async #acquireBesideRead(): Promise<FoundState | ChangeOutcome> {
    const attempt = this.#attempt
    const { context, inDoubt, name } = attempt
    const { contention } = context
    const written = contention.stateToConfirm(name)
    // On a contended stream the read would most likely be stale when the lease is acquired.
    const isRead = written === undefined && !contention.isContended(name)
    const read = isRead ? attempt.read().catch(() => undefined) : undefined
    const acquired = await this.#acquire()
    if (acquired.kind !== 'acquired') return this.#notAcquired(acquired)
    this.#lease = acquired.lease
    contention.changeStarted(name)
    inDoubt.otherLeaseAcquired()
    const state = written ?? (await read)
    return { kind: 'read', state: state?.stored.etag === acquired.etag ? state : await attempt.read() }
  }

  /** Acquires with a fresh id. While another writer holds the lease it retries, with back-off, until `waitMs` is over. */
  async #acquire(): Promise<Acquired | ChangeOutcome> {
    const attempt = this.#attempt
    const { context, name, options, wait } = attempt
    const { calls, contention, leases, newLeaseId } = context
    const leaseId = newLeaseId()
    // An unanswered acquire, or one aborted in flight, may have been applied.
    let mayBeHeld = false
    let unansweredAttempts = 0
    wait.restart()
    try {
      for (;;) {
        mayBeHeld = true
        const fromMs = calls.machine.monotonicMs()
        const answer = await leases.tryAcquire(name, leaseId, LEASE_S, options.signal, attempt.untilMs)
        unansweredAttempts += answer.unansweredAttempts
        mayBeHeld = answer.kind !== 'done' && unansweredAttempts > 0
        if (answer.kind === 'done') {
          const lease = new ChangeLease(leaseId, answer.value, calls.machine)
          attempt.attempts?.acquired(wait.waitedMs)
          return { kind: 'acquired', lease, etag: answer.value.etag }
        }
        if (isBlobMissing(answer.error)) return { kind: 'missing' }
        if (!isHeldByAnother(answer.error)) throw calls.fault(answer.error, name)
        contention.contentionSeen(name)
        if (answer.unansweredAttempts === 0) wait.recordTry(calls.machine.monotonicMs() - fromMs, calls.limits.leaseMs)
        await this.#reportHeld()
        if (await wait.nextTry()) continue
        attempt.attempts?.gaveUp(wait.waitedMs)
        return { kind: 'held', ...(await leases.heldBy(name, options.signal)), waitedMs: wait.waitedMs }
      }
    } finally {
      if (mayBeHeld) void contention.release(name, leaseId)
    }
  }

  /** Reports who holds the lease, to those who want to know: it costs a request, whose failure does not matter. */
  async #reportHeld(): Promise<void> {
    const { attempts, context, name, options, wait } = this.#attempt
    if (attempts === undefined) return
    const unknown = { lease: { state: 'leased' } as const, lastBy: undefined }
    const { lease, lastBy } = await context.leases.heldBy(name, options.signal).catch(() => unknown)
    attempts.held(wait.waitedMs, lease, lastBy)
  }

  /** No further Put follows. Before the outcome is returned, a read must show whether an earlier Put was applied. */
  async #notAcquired(outcome: ChangeOutcome): Promise<ChangeOutcome> {
    const attempt = this.#attempt
    if (attempt.inDoubt.write === undefined) return outcome
    return attempt.resolveInDoubt(await attempt.read()) ?? attempt.unlessInDoubt(outcome)
  }

  /** The lease may have expired, or the machine slept. The next round acquires a new one. */
  async #releaseUntrusted(): Promise<void> {
    const { context, inDoubt, name } = this.#attempt
    const leaseId = this.#lease?.id
    this.#lease = undefined
    if (leaseId === undefined) return
    if (await context.contention.release(name, leaseId)) inDoubt.leaseEnded(leaseId, 'LeaseLost')
  }
}

import { InvalidValue } from '../../stream/errors.ts'
import type { AcquireOptions, AcquireOutcome, BreakOutcome, Holder, LeaseOutcome, LeaseView } from '../store.ts'
import type { BlobIO } from './blobs.ts'
import { isBlobMissing, isHeldByAnother, isLeaseGone } from './errors.ts'
import { type HolderRecord, leaseHash, readHolder, withHolder } from './metadata.ts'
import type { Answer, AzureRequests } from './requests.ts'

/** The lease operations of the service. They do not change the blob's ETag, unless a holder is recorded. */
export class AzureLeases {
  readonly #bodies: BlobIO
  readonly #calls: AzureRequests

  constructor(bodies: BlobIO, calls: AzureRequests) {
    this.#bodies = bodies
    this.#calls = calls
  }

  /**
   * One acquire, repeated with the same id while unanswered. `sentMs` is the monotonic time before the answered attempt, `gapMs`
   * the wall clock minus it.
   */
  async tryAcquire(
    name: string,
    leaseId: string,
    durationS: number,
    signal?: AbortSignal,
    untilMs?: number,
  ): Promise<Answer<{ etag: string; sentMs: number; gapMs: number }>> {
    const client = this.#bodies.blob(name).getBlobLeaseClient(leaseId)
    const { machine } = this.#calls
    return this.#calls.sendWithRetry(
      async abortSignal => {
        const sentMs = machine.monotonicMs()
        const gapMs = machine.wallMs() - sentMs
        const { etag = '', date } = await client.acquireLease(durationS, { abortSignal })
        return { etag, sentMs, gapMs, date }
      },
      { ...this.#limits(signal), untilMs },
    )
  }

  /** Acquires the lease; with `record` it also writes the holder to the metadata, under that lease. */
  async acquire(name: string, options: AcquireOptions): Promise<AcquireOutcome> {
    const { leaseId, durationS, holder, record, signal } = options
    checkDuration(durationS)
    const answer = await this.tryAcquire(name, leaseId, durationS, signal)
    if (answer.kind === 'done') {
      const recorded = record ? await this.#record(name, leaseId, holder, signal) : undefined
      return { kind: 'acquired', leaseId, etag: recorded ?? answer.value.etag }
    }
    if (isBlobMissing(answer.error)) return { kind: 'missing' }
    if (isHeldByAnother(answer.error)) return { kind: 'held', ...(await this.heldBy(name, signal)) }
    return this.#unanswered(name, answer)
  }

  /** The holder of the lease and the actor of the last write, as far as known. */
  async heldBy(name: string, signal?: AbortSignal): Promise<{ lease: LeaseView; lastBy?: string }> {
    const row = await this.#bodies.head(name, signal)
    const lastBy = row?.summary?.lastBy
    return { lease: row?.lease ?? { state: 'leased' }, ...(lastBy ? { lastBy } : {}) }
  }

  async renew(name: string, leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    const client = this.#bodies.blob(name).getBlobLeaseClient(leaseId)
    return this.#outcome(
      name,
      await this.#calls.sendWithRetry(abortSignal => client.renewLease({ abortSignal }), this.#limits(signal)),
      leaseId,
    )
  }

  /** Safe to repeat: the service accepts a change to the id that the lease already has. */
  async change(name: string, leaseId: string, proposedId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    const blob = this.#bodies.blob(name)
    const answer = await this.#calls.sendWithRetry(
      // A new client for each attempt, because a client adopts the proposed id.
      abortSignal => blob.getBlobLeaseClient(leaseId).changeLease(proposedId, { abortSignal }),
      this.#limits(signal),
    )
    if (answer.kind === 'done') await this.#moveRecord(name, leaseId, proposedId, signal)
    return this.#outcome(name, answer, proposedId)
  }

  /** Removes the recorded holder, if it is that of this lease, and releases the lease. */
  async release(name: string, leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    await this.#moveRecord(name, leaseId, undefined, signal)
    return this.releaseOnly(name, leaseId, signal)
  }

  /** Releases the lease. "Lease gone" after an unanswered attempt means that the attempt was applied. */
  async releaseOnly(name: string, leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    const client = this.#bodies.blob(name).getBlobLeaseClient(leaseId)
    const answer = await this.#calls.sendWithRetry(
      abortSignal => client.releaseLease({ abortSignal }),
      this.#limits(signal),
    )
    if (answer.kind === 'refused' && answer.unansweredAttempts > 0 && isLeaseGone(answer.error))
      return { kind: 'ok', leaseId }
    return this.#outcome(name, answer, leaseId)
  }

  /** Repeating it can only shorten the period, so an unanswered attempt is repeated. */
  async break(name: string, periodS: number | undefined, signal?: AbortSignal): Promise<BreakOutcome> {
    if (periodS !== undefined && !(Number.isInteger(periodS) && periodS >= 0 && periodS <= 60)) {
      throw new InvalidValue(`the break period of a lease is 0 to 60 whole seconds, not ${periodS}`)
    }
    const client = this.#bodies.blob(name).getBlobLeaseClient()
    const answer = await this.#calls.sendWithRetry(
      // The SDK's type requires a number; without one the service lets a finite lease expire.
      abortSignal => client.breakLease(periodS as number, { abortSignal }),
      this.#limits(signal),
    )
    if (answer.kind === 'done') return { kind: 'broken', remainingS: answer.value.leaseTime ?? 0 }
    if (isBlobMissing(answer.error)) return { kind: 'missing' }
    if (isLeaseGone(answer.error)) return { kind: 'not-leased' }
    return this.#unanswered(name, answer)
  }

  #outcome(name: string, answer: Answer<unknown>, leaseId: string): LeaseOutcome {
    if (answer.kind === 'done') return { kind: 'ok', leaseId }
    if (isBlobMissing(answer.error)) return { kind: 'missing' }
    if (isLeaseGone(answer.error) || isHeldByAnother(answer.error)) return { kind: 'lost', code: answer.error.code }
    return this.#unanswered(name, answer)
  }

  #unanswered(
    name: string,
    answer: Answer<unknown> & { kind: 'refused' | 'unanswered' },
  ): { kind: 'unknown'; cause: unknown } {
    const fault = this.#calls.fault(answer.error, name)
    if (answer.kind === 'refused' || answer.unansweredAttempts === 0) throw fault
    return { kind: 'unknown', cause: fault }
  }

  /** The new ETag; `undefined` if the record could not be written: the record is optional, the lease holds anyway. */
  async #record(name: string, leaseId: string, holder: Holder, signal?: AbortSignal): Promise<string | undefined> {
    return this.#rewrite(name, leaseId, () => ({ holder, leaseHash: leaseHash(leaseId) }), signal)
  }

  async #moveRecord(name: string, leaseId: string, toId: string | undefined, signal?: AbortSignal): Promise<void> {
    const hash = leaseHash(leaseId)
    await this.#rewrite(
      name,
      toId ?? leaseId,
      found => {
        if (found?.leaseHash !== hash) return 'keep'
        return toId === undefined ? undefined : { holder: found.holder, leaseHash: leaseHash(toId) }
      },
      signal,
    )
  }

  /** Writes only metadata, under the lease and If-Match. Throws nothing but the caller's abort. */
  async #rewrite(
    name: string,
    leaseId: string,
    next: (found: HolderRecord | undefined) => HolderRecord | undefined | 'keep',
    signal: AbortSignal | undefined,
  ): Promise<string | undefined> {
    try {
      const row = await this.#bodies.head(name, signal)
      const record = row === undefined ? 'keep' : next(readHolder(row.metadata))
      if (row === undefined || record === 'keep') return row?.etag
      const metadata = withHolder(row.metadata, record)
      if (metadata === undefined) return row.etag
      const blob = this.#bodies.blob(name)
      const answer = await this.#calls.send(
        abortSignal => blob.setMetadata(metadata, { abortSignal, conditions: { leaseId, ifMatch: row.etag } }),
        this.#limits(signal),
      )
      return answer.kind === 'done' ? answer.value.etag : (await this.#bodies.head(name, signal))?.etag
    } catch {
      signal?.throwIfAborted()
      return undefined
    }
  }

  #limits(signal: AbortSignal | undefined) {
    return { limitMs: this.#calls.limits.leaseMs, signal }
  }
}

function checkDuration(durationS: number): void {
  if (durationS === -1 || (Number.isInteger(durationS) && durationS >= 15 && durationS <= 60)) return
  throw new InvalidValue(`a lease lasts 15 to 60 seconds or is infinite (-1), not ${durationS}`)
}

import type { AcquireOptions, AcquireOutcome, BreakOutcome, Holder, LeaseOutcome, LeaseView } from '../store.ts'
import type { BlobIO } from './blobs.ts'
import { isBlobMissing, isHeldByAnother } from './errors.ts'
import { checkDuration, LeaseRequests } from './lease-requests.ts'
import { type HolderRecord, leaseHash, readHolder, withHolder } from './metadata.ts'
import type { PlainContainerClient } from './plain-requests.ts'
import type { AzureRequests } from './requests.ts'

/** The lease operations of the service. They do not change the blob's ETag, unless a holder is recorded. */
export class AzureLeases {
  readonly #client: PlainContainerClient
  readonly #bodies: BlobIO
  readonly #calls: AzureRequests

  constructor(client: PlainContainerClient, bodies: BlobIO, calls: AzureRequests) {
    this.#client = client
    this.#bodies = bodies
    this.#calls = calls
  }

  /** As `LeaseRequests.tryAcquire`. */
  tryAcquire(name: string, leaseId: string, durationS: number, signal?: AbortSignal, untilMs?: number) {
    return this.#of(name).tryAcquire(leaseId, durationS, signal, untilMs)
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
    return this.#of(name).unanswered(answer)
  }

  /** The holder of the lease and the actor of the last write, as far as known. */
  async heldBy(name: string, signal?: AbortSignal): Promise<{ lease: LeaseView; lastBy?: string }> {
    const row = await this.#bodies.head(name, signal)
    const lastBy = row?.summary?.lastBy
    return { lease: row?.lease ?? { state: 'leased' }, ...(lastBy ? { lastBy } : {}) }
  }

  renew(name: string, leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    return this.#of(name).renew(leaseId, signal)
  }

  async change(name: string, leaseId: string, proposedId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    const outcome = await this.#of(name).change(leaseId, proposedId, signal)
    if (outcome.kind === 'ok') await this.#moveRecord(name, leaseId, proposedId, signal)
    return outcome
  }

  /** Removes the recorded holder, if it is that of this lease, and releases the lease. */
  async release(name: string, leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    await this.#moveRecord(name, leaseId, undefined, signal)
    return this.releaseOnly(name, leaseId, signal)
  }

  releaseOnly(name: string, leaseId: string, signal?: AbortSignal): Promise<LeaseOutcome> {
    return this.#of(name).release(leaseId, signal)
  }

  break(name: string, periodS: number | undefined, signal?: AbortSignal): Promise<BreakOutcome> {
    return this.#of(name).break(periodS, signal)
  }

  #of(name: string): LeaseRequests {
    return new LeaseRequests(this.#calls, this.#client, this.#bodies.blob(name).url, name)
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

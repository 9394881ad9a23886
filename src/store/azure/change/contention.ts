import { within } from '../../../util/concurrency.ts'
import type { OthersLately } from '../../store.ts'
import type { BlobState } from '../blobs.ts'
import type { AzureLeases } from '../leases.ts'
import type { AzureRequests } from '../requests.ts'
import { WriterFairness } from './fairness.ts'
import type { ChangeLease } from './held-lease.ts'
import type { LeaseWait } from './lease-wait.ts'
import { WriteCache } from './write-cache.ts'

/** A lease kept after a change, with the state that the change wrote. */
interface KeptLease {
  readonly lease: ChangeLease
  readonly state: BlobState
}

/**
 * State shared by the changes of one process, so that many writers of one stream are fast and fair. Safety does not depend on
 * it: each Put has If-Match and the lease id.
 *
 * - *Fairness*: a process that had its turn yields to waiting writers.
 * - *Write cache*: a change begins with the state that this process wrote last, without a read.
 * - *Lease reuse*: a lease is kept until the end of the current turn of the event loop. If this process changes the stream
 *   again within that turn, the next change reuses it: one round trip instead of acquire, read, write and release.
 * - *Releases* continue after the outcome of their change is returned. The next change waits for them, because an earlier
 *   acquire would be rejected. Their failure does not matter: a lease also expires.
 */
export class Contention {
  readonly #calls: AzureRequests
  readonly #leases: AzureLeases
  readonly #releaseMs: number
  readonly #fairness: WriterFairness
  readonly #cache = new WriteCache()
  readonly #kept = new Map<string, KeptLease>()
  readonly #releases = new Map<string, Promise<unknown>>()

  /** @param releaseMs how long a change waits for the release of the change before it; after that it acquires anyway */
  constructor(calls: AzureRequests, leases: AzureLeases, releaseMs: number) {
    this.#calls = calls
    this.#leases = leases
    this.#releaseMs = releaseMs
    this.#fairness = new WriterFairness(() => calls.machine.monotonicMs(), calls.random)
  }

  /** Before a change: waits for this process's own release, then yields to waiting writers. */
  async yieldToOthers(name: string, wait: LeaseWait): Promise<void> {
    const isJustReleased = await this.#released(name)
    await wait.pause(this.#fairness.yieldDelayMs(name, isJustReleased))
  }

  /** A change has finished waiting, and now has the stream to itself or tries to. */
  changeStarted(name: string): void {
    this.#fairness.changeStarted(name)
  }

  /** Another writer's lease was in the way, or its write came first. */
  contentionSeen(name: string): void {
    this.#fairness.contentionSeen(name)
  }

  /** Whether there was contention in the last seconds: an earlier state is then most likely stale. */
  isContended(name: string): boolean {
    return this.#fairness.isContended(name)
  }

  /** A change decides on a state of this ETag, which it has read. */
  observeEtag(name: string, etag: string): void {
    this.#fairness.observeEtag(name, etag)
  }

  /** A change ended without a write, on a state of this ETag. */
  recordSkip(name: string, etag: string): void {
    this.#fairness.recordSkip(name, etag)
  }

  /** A change ended with a write of this ETag. */
  recordChange(name: string, etag: string, othersLately: (() => OthersLately) | undefined): void {
    this.#fairness.recordChange(name, etag, othersLately)
  }

  /** The state that this process wrote last, for a change without a lease, if it is most likely still current. */
  cachedState(name: string): BlobState | undefined {
    const isLikely = this.#fairness.isActive(name) || !this.#fairness.isContended(name)
    // Only an answer gives the service's time, and with a stale clock another writer's claim may seem to have expired.
    return isLikely && this.#calls.clock.isFresh ? this.#cache.find(name) : undefined
  }

  /** The same for a change that acquires a lease, which shows by the ETag whether the state is current. */
  stateToConfirm(name: string): BlobState | undefined {
    return this.#fairness.isAloneLately(name) ? this.#cache.find(name) : undefined
  }

  /** Caches the state that a change wrote. */
  cacheState(name: string, written: BlobState): void {
    this.#cache.remember(name, written)
  }

  /** A Put is about to be sent: the cached state becomes stale. */
  invalidateCache(name: string): void {
    this.#cache.forget(name)
  }

  /** Whether a lease of this stream is kept for the next change. */
  hasKeptLease(name: string): boolean {
    return this.#kept.has(name)
  }

  /** Hands over the lease kept for the next change; the caller must release it. */
  reuseLease(name: string): KeptLease | undefined {
    const kept = this.#kept.get(name)
    this.#kept.delete(name)
    return kept
  }

  /** After a change under this lease: keeps it for the next change while this process has its turn. */
  keepOrRelease(name: string, lease: ChangeLease, written: BlobState | undefined): void {
    if (written !== undefined && this.#fairness.isActive(name) && lease.isReusable) {
      const kept = { lease, state: written }
      this.releaseKept(name)
      this.#kept.set(name, kept)
      setImmediate(() => {
        if (this.#kept.get(name) === kept) this.releaseKept(name)
      })
    } else void this.release(name, lease.id)
  }

  /** Starts a release in the background. Resolves to whether the service confirmed that the lease is over. */
  release(name: string, leaseId: string): Promise<boolean> {
    const released = this.#leases.releaseOnly(name, leaseId).then(
      ({ kind }) => kind === 'ok' || kind === 'lost' || kind === 'missing',
      () => false,
    )
    const all = Promise.all([this.#releases.get(name), released]).then(() => {
      if (this.#releases.get(name) === all) this.#releases.delete(name)
    })
    this.#releases.set(name, all)
    return released
  }

  /** Releases the lease kept for a next change that may never come, so that nothing else sees it. */
  releaseKept(name: string): void {
    const kept = this.reuseLease(name)
    if (kept !== undefined) void this.release(name, kept.lease.id)
  }

  /** Releases the kept leases of all streams. */
  releaseAllKept(): void {
    for (const name of [...this.#kept.keys()]) this.releaseKept(name)
  }

  /** Waits until this process's own lease on the stream is released, so that it does not count as another writer's. */
  async ownLeaseReleased(name: string): Promise<void> {
    this.releaseKept(name)
    await this.#released(name)
  }

  /** Waits for the releases of all streams. */
  async allReleased(): Promise<void> {
    await Promise.all(this.#releases.values())
  }

  /** @returns whether there was a release to wait for */
  async #released(name: string): Promise<boolean> {
    const released = this.#releases.get(name)
    if (released !== undefined) await within(this.#releaseMs, released)
    return released !== undefined
  }
}

import type { AcquireOptions, AcquireOutcome, StreamStore } from '../store/store.ts'
import { type Clock, elapsedMs, type Instant, instantOf, machineClock } from '../util/clock.ts'

export interface LeaseMonitorOptions {
  /** A fresh UUID. */
  readonly leaseId: string
  /** Seconds, 15 to 60, or -1 for an infinite lease. */
  readonly durationS: number
  readonly clock?: Clock
}

/** The outcome of a renewal. `unknown`: there was no answer, so the lease is neither renewed nor lost. */
export type RenewalOutcome =
  | { readonly kind: 'held' }
  | { readonly kind: 'lost'; readonly code: string }
  | { readonly kind: 'unknown' }

/** A renewal that takes longer counts as unanswered, ms. */
const RENEWAL_MS = 5_000

/**
 * A lease that this process acquires, renews and releases. It is due for renewal after a third of its duration and
 * trusted for two thirds, counted from *sending* the last granted request, by the clock on which more time has passed.
 * A request without an answer neither extends nor ends the lease.
 */
export class LeaseMonitor {
  readonly name: string
  readonly leaseId: string
  readonly #store: StreamStore
  readonly #durationS: number
  readonly #clock: Clock
  #firstSentAt: Instant | undefined
  /** When the last granted request was sent. */
  #grantedAt: Instant | undefined
  #isUnderWay = false

  constructor(store: StreamStore, name: string, { leaseId, durationS, clock = machineClock }: LeaseMonitorOptions) {
    this.#store = store
    this.name = name
    this.leaseId = leaseId
    this.#durationS = durationS
    this.#clock = clock
  }

  /** No other holder is possible now. */
  get isTrusted(): boolean {
    return this.#ageMs(this.#grantedAt) < (this.#durationMs * 2) / 3
  }

  /** The lease should be renewed, and no request is in flight. */
  get isDue(): boolean {
    return !this.#isUnderWay && this.#ageMs(this.#grantedAt) >= this.#durationMs / 3
  }

  /** The lease has ended, whatever the outcome of its requests, or will end unused. */
  get isOver(): boolean {
    return !this.#isUnderWay && this.#ageMs(this.#grantedAt ?? this.#firstSentAt) >= this.#durationMs
  }

  /** @throws the store's faults: the lease is then not held, unless the request was aborted */
  async acquire(options: Omit<AcquireOptions, 'leaseId' | 'durationS'>): Promise<AcquireOutcome> {
    return this.#send(
      () => this.#store.acquireLease(this.name, { ...options, leaseId: this.leaseId, durationS: this.#durationS }),
      ({ kind }) => kind === 'acquired',
    )
  }

  /** @throws the store's faults: the state of the lease is then unknown */
  async renew(signal?: AbortSignal): Promise<RenewalOutcome> {
    const limit = AbortSignal.timeout(RENEWAL_MS)
    const limited = signal === undefined ? limit : AbortSignal.any([signal, limit])
    try {
      const outcome = await this.#send(
        () => this.#store.renewLease(this.name, this.leaseId, limited),
        ({ kind }) => kind === 'ok',
      )
      if (outcome.kind === 'ok') return { kind: 'held' }
      if (outcome.kind === 'missing') return { kind: 'lost', code: 'BlobNotFound' }
      return outcome.kind === 'lost' ? outcome : { kind: 'unknown' }
    } catch (error) {
      if (limited.aborted) return { kind: 'unknown' }
      throw error
    }
  }

  /**
   * Releases the lease. An unanswered release does no harm: a finite lease ends by itself.
   * @returns the code if the service says that the lease was lost before
   */
  async release(signal?: AbortSignal): Promise<string | undefined> {
    const outcome = await this.#store.releaseLease(this.name, this.leaseId, signal).catch(() => undefined)
    return outcome?.kind === 'lost' ? outcome.code : undefined
  }

  async #send<Outcome>(request: () => Promise<Outcome>, isGranted: (outcome: Outcome) => boolean): Promise<Outcome> {
    const sentAt = instantOf(this.#clock)
    this.#firstSentAt ??= sentAt
    this.#isUnderWay = true
    try {
      const outcome = await request()
      if (isGranted(outcome)) this.#grantedAt = sentAt
      return outcome
    } finally {
      this.#isUnderWay = false
    }
  }

  get #durationMs(): number {
    return this.#durationS < 0 ? Number.POSITIVE_INFINITY : this.#durationS * 1_000
  }

  #ageMs(since: Instant | undefined): number {
    return since === undefined ? Number.POSITIVE_INFINITY : elapsedMs(since, this.#clock)
  }
}

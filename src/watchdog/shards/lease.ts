import { hostname } from 'node:os'
import { createAside } from '../../ops/system-documents.ts'
import type { EventStore, Holder, LeaseView } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'
import type { Timing } from '../../util/clock.ts'
import { runBatch } from '../../util/concurrency.ts'

export interface ShardLeaseOptions {
  /** Seconds, 15 to 60. */
  readonly leaseS: number
  /** The monotonic clock stands still while the machine sleeps, the wall clock may be set back: the longer time counts. */
  readonly timing: Pick<Timing, 'monotonicMs' | 'wallMs'>
  /** A fresh UUID at each call. */
  readonly newId: () => string
  /** Who holds it, shown to others. */
  readonly holder: () => Holder
}

/** A request that takes longer says nothing any more: by then others know better. */
const REQUEST_MS = 5_000
/** A watchdog that ends gives back what it has and waits no longer. */
const RELEASE_MS = 1_800
/** Written once, when the document is first needed; what counts is its lease. */
const BODY = `${JSON.stringify({ apiVersion: 'leasectl/v1', kind: 'watchdog-lease' })}\n`

/**
 * The lease of one of the watchdogs' documents, for one tenure. It is trusted until a third before its end, counted from
 * *sending* the last request that was granted, by the clock that says it is longer ago. A request without an answer
 * neither extends it nor ends it. One that is not trusted any more is renewed all the same, until it must have ended.
 */
export class ShardLease {
  readonly name: string
  readonly #store: EventStore
  readonly #options: ShardLeaseOptions
  readonly #leaseId: string
  /** When the last request was sent that was granted. */
  #since: Moment | undefined
  /** When the lease was asked for first. */
  #asked: Moment | undefined
  #isUnderWay = false

  constructor(store: EventStore, name: string, options: ShardLeaseOptions) {
    this.name = name
    this.#store = store
    this.#options = options
    this.#leaseId = options.newId()
  }

  /** Nobody else can have it now. */
  get isTrusted(): boolean {
    return this.#ageMs < (this.#options.leaseS * 1_000 * 2) / 3
  }

  /** It is time to renew it, and no request is under way. */
  get isDue(): boolean {
    return !this.#isUnderWay && this.#ageMs >= (this.#options.leaseS * 1_000) / 3
  }

  /** Whatever became of its requests: it has ended, or ends without having been used. */
  get isOver(): boolean {
    return !this.#isUnderWay && this.#msSince(this.#since ?? this.#asked) >= this.#options.leaseS * 1_000
  }

  get #ageMs(): number {
    return this.#msSince(this.#since)
  }

  #msSince(moment: Moment | undefined): number {
    if (moment === undefined) return Number.POSITIVE_INFINITY
    const now = this.#now()
    return Math.max(now.monotonicMs - moment.monotonicMs, now.wallMs - moment.wallMs)
  }

  /**
   * Takes the lease, and creates its document if there is none. `unknown`: it may be ours; renewing tells.
   *
   * @throws the store's faults: then it is not ours
   */
  async acquire(signal: AbortSignal): Promise<'held' | 'taken' | 'unknown'> {
    const { leaseS, holder } = this.#options
    for (let round = 0; round < 3; round++) {
      const options = { leaseId: this.#leaseId, durationS: leaseS, holder: holder() }
      const outcome = await this.#granted(signal, limited =>
        this.#store.acquire(this.name, { ...options, signal: limited }),
      )
      if (outcome.kind === 'held') return 'taken'
      if (outcome.kind !== 'missing') return outcome.kind === 'acquired' ? 'held' : 'unknown'
      await createAside(this.#store, this.name, BODY, { by: options.holder.by, signal })
    }
    return 'taken'
  }

  /** @throws the store's faults: then it stands as it did */
  async renew(signal: AbortSignal): Promise<'held' | 'lost' | 'unknown'> {
    const outcome = await this.#granted(signal, limited => this.#store.renew(this.name, this.#leaseId, limited))
    if (outcome.kind === 'ok') return 'held'
    return outcome.kind === 'unknown' ? 'unknown' : 'lost'
  }

  /** Gives it back, within 2 s; it must not be used any more before that. Unanswered it ends by itself. */
  async release(): Promise<void> {
    await this.#store.release(this.name, this.#leaseId, AbortSignal.timeout(RELEASE_MS)).catch(() => undefined)
  }

  /** Sends a request; if it was granted, the lease counts from its sending on. */
  async #granted<Outcome extends { readonly kind: string }>(
    signal: AbortSignal,
    send: (limited: AbortSignal) => Promise<Outcome>,
  ): Promise<Outcome | { readonly kind: 'unknown' }> {
    const sent = this.#now()
    this.#asked ??= sent
    const limit = AbortSignal.timeout(REQUEST_MS)
    this.#isUnderWay = true
    try {
      const outcome = await send(AbortSignal.any([signal, limit]))
      if (outcome.kind === 'acquired' || outcome.kind === 'ok') this.#since = sent
      return outcome
    } catch (error) {
      if (limit.aborted || signal.aborted) return { kind: 'unknown' }
      throw error
    } finally {
      this.#isUnderWay = false
    }
  }

  #now(): Moment {
    const { timing } = this.#options
    return { monotonicMs: timing.monotonicMs(), wallMs: timing.wallMs() }
  }
}

interface Moment {
  readonly monotonicMs: number
  readonly wallMs: number
}

export interface DocumentOptions {
  readonly by: string
  readonly leaseS: number
  readonly timing: Timing
  readonly newId: () => string
}

/** So many documents are read, or leases taken or given back, at a time. */
const AT_ONCE = 8
/** A read of a lease that takes longer says nothing any more, ms. */
const READ_MS = 5_000

/** The documents whose leases are seats and shards. */
export class ShardDocuments {
  readonly #store: EventStore
  readonly #options: DocumentOptions

  constructor(store: EventStore, options: DocumentOptions) {
    this.#store = store
    this.#options = options
  }

  /** A new tenure of the lease of a document. @param purpose in words, shown to others */
  lease(name: string, purpose: string): ShardLease {
    const { by } = this.#options
    const holder = () => ({ by, host: hostname(), pid: process.pid, purpose, sinceMs: this.#store.nowMs() })
    return new ShardLease(this.#store, name, { ...this.#options, holder })
  }

  /** Those of the numbered documents that somebody holds now; the others are free or missing. @throws the store's faults */
  async leased(
    numbers: readonly number[],
    nameOf: (number: number) => string,
    signal: AbortSignal,
  ): Promise<ReadonlySet<number>> {
    const leased = new Set<number>()
    const limited = AbortSignal.any([signal, AbortSignal.timeout(READ_MS)])
    await inParallel(numbers, async number => {
      const state = await this.#stateOf(nameOf(number), limited)
      if (state === 'leased' || state === 'breaking') leased.add(number)
    })
    return leased
  }

  /** One that cannot be read, as one in the archive tier, is made anew by whoever takes it: nothing counts but its lease. */
  async #stateOf(name: string, signal: AbortSignal): Promise<LeaseView['state'] | undefined> {
    try {
      return (await this.#store.read(name, signal))?.lease.state
    } catch (error) {
      if (!(error instanceof StreamFault)) throw error
      const outcome = await this.#store.remove(name, { signal })
      return outcome.kind === 'held' ? outcome.lease.state : undefined
    }
  }
}

/** @throws what `work` threw first, after everything in flight has ended */
export async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  await runBatch(items, { concurrency: AT_ONCE }, work)
}

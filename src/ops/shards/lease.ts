import { hostname } from 'node:os'
import { answeredWithin } from '../../store/no-answer.ts'
import type { AcquireOutcome, Holder, LeaseView, StreamStore } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'
import type { Clock } from '../../util/clock.ts'
import { runBatch } from '../../util/concurrency.ts'
import { LeaseMonitor, type LeaseMonitorOptions } from '../lease-monitor.ts'
import { createSystemDocument } from '../system-documents.ts'
import type { ShardPart } from './quota.ts'

/** An acquire that takes longer is abandoned: its result is outdated by then. */
const ACQUIRE_MS = 5_000
/** Time limit for releasing leases when the member stops. */
const RELEASE_MS = 1_800
/**
 * One tenure of the lease of a seat or a shard. A lease that is no longer trusted is still renewed until it must have
 * expired.
 */
export class ShardLease extends LeaseMonitor {
  readonly #store: StreamStore
  readonly #holder: () => Holder

  readonly #body: string

  /**
   * @param body the text of the document if it has to be created
   * @param holder the holder as shown to others
   */
  constructor(
    store: StreamStore,
    name: string,
    { body, ...options }: LeaseMonitorOptions & { readonly body: string },
    holder: () => Holder,
  ) {
    super(store, name, options)
    this.#store = store
    this.#body = body
    this.#holder = holder
  }

  /**
   * Takes the lease and creates its document if missing. `unknown`: it may be ours; renewing it shows whether it is.
   *
   * @throws the store's faults: the lease is then not ours
   */
  async take(signal: AbortSignal): Promise<'held' | 'taken' | 'unknown'> {
    for (let round = 0; round < 3; round++) {
      const holder = this.#holder()
      const { kind } = await this.#acquire(holder, signal)
      if (kind === 'held') return 'taken'
      if (kind !== 'missing') return kind === 'acquired' ? 'held' : 'unknown'
      await createSystemDocument(this.#store, this.name, this.#body, { by: holder.by, signal })
    }
    return 'taken'
  }

  /** Releases it, within 2 s; callers must stop using it before. Without an answer it expires by itself. */
  async giveBack(): Promise<void> {
    await this.release(AbortSignal.timeout(RELEASE_MS))
  }

  async #acquire(holder: Holder, signal: AbortSignal): Promise<Pick<AcquireOutcome, 'kind'>> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(ACQUIRE_MS)])
    try {
      return await this.acquire({ holder, signal: limited })
    } catch (error) {
      if (limited.aborted) return { kind: 'unknown' }
      throw error
    }
  }
}

export interface DocumentOptions {
  /** The folder of the documents, below `.leasectl/`. */
  readonly folder: string
  /** Who shares, in a word, for the holders of leases as others see them: `watchdog`. */
  readonly role: string
  /** Total number of shards. */
  readonly count: number
  readonly part?: ShardPart | undefined
  /** The text of a shard's document when it is created; by default only its lease matters. */
  readonly content?: string
  /** Actor, `user@host`. */
  readonly by: string
  readonly leaseS: number
  readonly clock: Clock
  readonly newId: () => string
}

/** Number of documents read, or leases taken or released, concurrently. */
const AT_ONCE = 8
/** A read of a lease that takes longer is abandoned, ms. */
const READ_MS = 5_000

/** The documents whose leases are seats and shards. */
export class ShardDocuments {
  readonly #store: StreamStore
  readonly #options: DocumentOptions

  constructor(store: StreamStore, options: DocumentOptions) {
    this.#store = store
    this.#options = options
  }

  /** A new tenure of the lease of a shard. */
  shardLease(shard: number): ShardLease {
    const { count, role, content } = this.#options
    return this.#lease(this.shardName(shard), `${role} shard ${shard} of ${count}`, content)
  }

  /** A new tenure of the lease of a seat. */
  seatLease(seat: number): ShardLease {
    return this.#lease(this.seatName(seat), `${this.#options.role} seat ${seat}`)
  }

  /** The document whose lease represents a shard. Members with other counts use other documents. */
  readonly shardName = (shard: number): string => `${this.#options.folder}/${this.#options.count}/${shard}`

  /** The document whose lease represents a running member. */
  readonly seatName = (seat: number): string => {
    const { folder, count, part } = this.#options
    // Those of one part share only its shards.
    const seats = part === undefined ? 'seats' : `seats-${part.index}-of-${part.count}`
    return `${folder}/${count}/${seats}/${seat}`
  }

  #lease(name: string, purpose: string, content?: string): ShardLease {
    const { by, role, leaseS: durationS, clock, newId } = this.#options
    const holder = () => ({ by, host: hostname(), pid: process.pid, purpose, sinceMs: this.#store.nowMs() })
    const body = content ?? `${JSON.stringify({ apiVersion: 'leasectl/v1', kind: `${role}-lease` })}\n`
    return new ShardLease(this.#store, name, { leaseId: newId(), durationS, clock, body }, holder)
  }

  /** Those of the numbered documents that are leased now; the others are free or missing. @throws the store's faults */
  async leased(
    numbers: readonly number[],
    nameOf: (number: number) => string,
    signal: AbortSignal,
  ): Promise<ReadonlySet<number>> {
    const leased = new Set<number>()
    await answeredWithin(READ_MS, signal, limited =>
      inParallel(numbers, async number => {
        const state = await this.#stateOf(nameOf(number), limited)
        if (state === 'leased' || state === 'breaking') leased.add(number)
      }),
    )
    return leased
  }

  /** An unreadable document, for example in the archive tier, is removed to be recreated if only its lease matters. */
  async #stateOf(name: string, signal: AbortSignal): Promise<LeaseView['state'] | undefined> {
    try {
      return (await this.#store.read(name, signal))?.lease.state
    } catch (error) {
      if (!(error instanceof StreamFault) || this.#options.content !== undefined) throw error
      const outcome = await this.#store.remove(name, { signal })
      return outcome.kind === 'held' ? outcome.lease.state : undefined
    }
  }
}

/** @throws the first error of `work`, after all calls in flight have ended */
export async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  await runBatch(items, { concurrency: AT_ONCE }, work)
}

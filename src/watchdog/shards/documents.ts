import { hostname } from 'node:os'
import type { EventStore, LeaseView } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'
import type { Timing } from '../../util/clock.ts'
import { runBatch } from '../../util/concurrency.ts'
import { ShardLease } from './lease.ts'

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

import type { ShardDocuments, ShardLease } from './lease.ts'
import { freeSeat, quotaOf, seatsFor, seatsToCheck } from './quota.ts'

/** All seats are checked once in this number of checks: about every half minute. */
const ALL_EVERY = 25

/**
 * Counts running members: each holds the lease of one numbered document, its seat, so the held leases show how many
 * there are, by the store's own account. The seat of a dead one becomes free when its lease expires, like its
 * shards.
 */
export class Membership {
  readonly #count: number
  readonly #documents: ShardDocuments
  #others: ReadonlySet<number> = new Set()
  #own: { readonly seat: number; readonly lease: ShardLease } | undefined
  #checks = 0

  /** @param count total number of shards */
  constructor(count: number, documents: ShardDocuments) {
    this.#count = count
    this.#documents = documents
  }

  /** The lease of the own seat, to be renewed. */
  get lease(): ShardLease | undefined {
    return this.#own?.lease
  }

  /** The own seat is lost: the next check takes another one. */
  lose(lost: ShardLease): void {
    if (this.#own?.lease === lost) this.#own = undefined
  }

  /** Releases the own seat. */
  async leave(): Promise<void> {
    const own = this.#own
    this.#own = undefined
    await own?.lease.giveBack()
  }

  /**
   * Checks which seats are taken, and takes one if this member has none.
   *
   * @returns quota of shards for this member; 0 if there is no free seat
   * @throws the store's faults
   */
  async check(signal: AbortSignal): Promise<number> {
    const all = this.#checks++ % ALL_EVERY === 0
    this.#others = await this.#takenByOthers(all, signal)
    if (this.#own === undefined) await this.#takeSeat(signal)
    const own = this.#own
    return own === undefined ? 0 : quotaOf(this.#count, new Set([...this.#others, own.seat]), own.seat)
  }

  async #takenByOthers(all: boolean, signal: AbortSignal): Promise<ReadonlySet<number>> {
    const found = new Set<number>()
    const checked = new Set<number>()
    for (;;) {
      const known = new Set([...this.#others, ...found, ...(this.#own ? [this.#own.seat] : [])])
      const seats = seatsToCheck(seatsFor(this.#count), known, all).filter(
        seat => seat !== this.#own?.seat && !checked.has(seat),
      )
      if (seats.length === 0) return found
      for (const seat of seats) checked.add(seat)
      const leased = await this.#documents.leased(seats, this.#documents.seatName, signal)
      for (const seat of leased) found.add(seat)
    }
  }

  async #takeSeat(signal: AbortSignal): Promise<void> {
    const seats = seatsFor(this.#count)
    const taken = new Set(this.#others)
    for (let seat = freeSeat(seats, taken); seat !== undefined; seat = freeSeat(seats, taken)) {
      const lease = this.#documents.seatLease(seat)
      // Without an answer the lease may be ours: renewing it shows whether it is.
      if ((await lease.take(signal)) !== 'taken') {
        this.#own = { seat, lease }
        break
      }
      taken.add(seat)
    }
    this.#others = taken
  }
}

import type { ShardDocuments, ShardLease } from './lease.ts'
import { freeSeat, quotaOf, seatName, seatsFor, seatsToLookAt } from './quota.ts'

/** Once in so many looks all seats are looked at: some half a minute. */
const ALL_EVERY = 25

/**
 * Who is there: each watchdog holds the lease of one numbered document, its seat, so the leases that are held tell how
 * many there are, by the store's own word. One that died has left its seat when its lease ends, as its shards are free.
 */
export class Membership {
  readonly #count: number
  readonly #documents: ShardDocuments
  #others: ReadonlySet<number> = new Set()
  #own: { readonly seat: number; readonly lease: ShardLease } | undefined
  #looks = 0

  /** @param count how many shards */
  constructor(count: number, documents: ShardDocuments) {
    this.#count = count
    this.#documents = documents
  }

  /** The lease of the own seat, to be renewed. */
  get lease(): ShardLease | undefined {
    return this.#own?.lease
  }

  /** The own seat is lost: the next look finds another one. */
  lose(lost: ShardLease): void {
    if (this.#own?.lease === lost) this.#own = undefined
  }

  /** Gives the own seat back. */
  async leave(): Promise<void> {
    const own = this.#own
    this.#own = undefined
    await own?.lease.giveBack()
  }

  /**
   * Looks who is there, and sits down if it has no seat.
   *
   * @returns how many shards are for this watchdog: none if there is no seat for it
   * @throws the store's faults
   */
  async look(signal: AbortSignal): Promise<number> {
    const all = this.#looks++ % ALL_EVERY === 0
    this.#others = await this.#takenByOthers(all, signal)
    if (this.#own === undefined) await this.#sitDown(signal)
    const own = this.#own
    return own === undefined ? 0 : quotaOf(this.#count, new Set([...this.#others, own.seat]), own.seat)
  }

  async #takenByOthers(all: boolean, signal: AbortSignal): Promise<ReadonlySet<number>> {
    const found = new Set<number>()
    const looked = new Set<number>()
    for (;;) {
      const known = new Set([...this.#others, ...found, ...(this.#own ? [this.#own.seat] : [])])
      const seats = seatsToLookAt(seatsFor(this.#count), known, all).filter(
        seat => seat !== this.#own?.seat && !looked.has(seat),
      )
      if (seats.length === 0) return found
      for (const seat of seats) looked.add(seat)
      const leased = await this.#documents.leased(seats, seat => seatName(this.#count, seat), signal)
      for (const seat of leased) found.add(seat)
    }
  }

  async #sitDown(signal: AbortSignal): Promise<void> {
    const seats = seatsFor(this.#count)
    const taken = new Set(this.#others)
    for (let seat = freeSeat(seats, taken); seat !== undefined; seat = freeSeat(seats, taken)) {
      const lease = this.#documents.lease(seatName(this.#count, seat), `watchdog seat ${seat}`)
      // Without an answer it may be ours: renewing it tells.
      if ((await lease.take(signal)) !== 'taken') {
        this.#own = { seat, lease }
        break
      }
      taken.add(seat)
    }
    this.#others = taken
  }
}

import type { ShardLease } from './shard-lease.ts'
import { freeSeat, quotaOf, seatsToLookAt } from './shard-plan.ts'

export interface SeatParts {
  /** How many shards, and so how many seats. */
  readonly count: number
  /** A new tenure of the lease of a seat. */
  readonly lease: (seat: number) => ShardLease
  /** Which of these seats somebody has now. @throws the store's faults */
  readonly taken: (seats: readonly number[], signal: AbortSignal) => Promise<readonly number[]>
}

/** Once in so many looks all seats are looked at: some half a minute. */
const ALL_EVERY = 25

/**
 * Who is there: each watchdog holds the lease of one numbered document, its seat, so the leases that are held tell how
 * many there are, by the store's own word. One that died has left its seat when its lease ends, as its shards are free.
 */
export class Seats {
  readonly #parts: SeatParts
  #others: ReadonlySet<number> = new Set()
  #own: { readonly seat: number; readonly lease: ShardLease } | undefined
  #looks = 0

  constructor(parts: SeatParts) {
    this.#parts = parts
  }

  /** The lease of the own seat, to be renewed. */
  get lease(): ShardLease | undefined {
    return this.#own?.lease
  }

  /** How many shards are for this watchdog: none without a seat. */
  get quota(): number {
    if (this.#own === undefined) return 0
    const { seat } = this.#own
    return quotaOf(this.#parts.count, new Set([...this.#others, seat]), seat)
  }

  /** The own seat is lost: the next look finds another one. */
  lose(): void {
    this.#own = undefined
  }

  /** Looks who is there, and sits down if it has no seat. @throws the store's faults */
  async look(signal: AbortSignal): Promise<void> {
    const all = this.#looks++ % ALL_EVERY === 0
    this.#others = await this.#takenByOthers(all, signal)
    // Those who came at the same time have sat down meanwhile.
    if (this.#own === undefined && (await this.#sitDown(signal))) this.#others = await this.#takenByOthers(all, signal)
  }

  async #takenByOthers(all: boolean, signal: AbortSignal): Promise<ReadonlySet<number>> {
    const { count, taken } = this.#parts
    const found = new Set<number>()
    const looked = new Set<number>()
    for (;;) {
      const known = new Set([...this.#others, ...found, ...(this.#own ? [this.#own.seat] : [])])
      const seats = seatsToLookAt(count, known, all).filter(seat => seat !== this.#own?.seat && !looked.has(seat))
      if (seats.length === 0) return found
      for (const seat of seats) looked.add(seat)
      for (const seat of await taken(seats, signal)) found.add(seat)
    }
  }

  async #sitDown(signal: AbortSignal): Promise<boolean> {
    const { count, lease: leaseOf } = this.#parts
    const taken = new Set(this.#others)
    for (let seat = freeSeat(count, taken); seat !== undefined; seat = freeSeat(count, taken)) {
      const lease = leaseOf(seat)
      // Without an answer it may be ours: renewing it tells.
      if ((await lease.acquire(signal)) !== 'taken') {
        this.#own = { seat, lease }
        return true
      }
      taken.add(seat)
    }
    this.#others = taken
    return false
  }
}

import { hostname } from 'node:os'
import type { EventStore } from '../store/store.ts'
import type { Timing } from './options.ts'
import type { Ownership } from './report.ts'
import type { ShardLease } from './shard-lease.ts'
import { inParallel } from './shard-parallel.ts'
import { shardOf } from './shard-plan.ts'
import { Seats } from './shard-seats.ts'
import { machineTiming } from './timing.ts'

export interface ShardOptions {
  /** Into how many shards the streams are divided; all watchdogs that are to share them have to say the same. */
  readonly count: number
  /** Actor, `user@host`. */
  readonly by: string
  /** How long a dead watchdog keeps its shards, seconds, 15 to 60. Default 15. */
  readonly leaseS?: number
  readonly timing?: Timing
  /** A fresh UUID at each call. */
  readonly newId: () => string
  /** Shards were taken, let go or lost. */
  readonly changed?: (held: readonly number[], count: number) => void
  /** The store does not answer or refuses; told once until it answers again. */
  readonly troubled?: (error: unknown) => void
}

/** The shards of one watchdog. */
export interface Shards extends Ownership {
  /** How many there are. */
  readonly count: number
  /** Those it holds now, by its own clock. */
  held(): readonly number[]
  /** Resolves when it has looked for shards for the first time, whatever came of it. */
  readonly ready: Promise<void>
  /**
   * Takes, renews and lets go of shards until the signal aborts, then gives all back, within 2 s. It goes on beside the
   * passes, so that a long one delays no renewal. Nothing that is wrong with the store ends it.
   */
  run(signal: AbortSignal): Promise<void>
}

/**
 * Several watchdogs share the work on a store: a stream belongs to the shard its name falls into, a shard to the watchdog
 * that holds the lease of `.leasectl/watchdog/shards/{count}/{shard}`. Wrong owners do no harm, as a command id makes each
 * expiry once; shards save work.
 *
 * A watchdog keeps as many shards as its quota says, which follows from the seats that are taken (`Seats`): it lets go of
 * what is above it, and takes what is free below it. So a watchdog that comes gets its share, the shards of one that died
 * are taken over within lease + 2 s, and with nobody coming or going nothing moves.
 *
 * What it costs on Azure, at $0.0044 for 10 000 reads or lease operations: with 3 watchdogs and 16 shards each renews
 * 5 + 1 leases in 5 s and reads 3 seats in 1.2 s, 3.7 requests a second, $4.3 a month; with 2 and 4 it is $2.6. Shards are
 * looked at only by a watchdog that is short of some. No document is written after it was created.
 */
export function openShards(store: EventStore, options: ShardOptions): Shards {
  return new WatchdogShards(store, options)
}

const LEASE_S = 15
/** Renewals are looked after this often, ms. */
const RENEW_LOOK_MS = 1_000
/** From one look at seats and shards to the next, ms: chance keeps watchdogs from meeting at each look. */
const LOOK = { leastMs: 1_000, jitterMs: 400 } as const
/** A store that does not answer is asked less and less often, up to this, ms. */
const MOST_PATIENT_MS = 5_000
/** What was let go is left to others for so long, ms. */
const LEFT_TO_OTHERS_MS = 5_000
/** A read of a lease that takes longer says nothing any more, ms. */
const READ_MS = 5_000
/** Giving back takes no longer, ms; what is not given back by then ends by itself. */
const HAND_BACK_MS = 1_800

class WatchdogShards implements Shards {
  readonly count: number
  readonly ready: Promise<void>
  readonly #store: EventStore
  readonly #options: ShardOptions
  readonly #timing: Timing
  readonly #seats: Seats
  readonly #leases = new Map<number, ShardLease>()
  /** Shards let go, with the monotonic time until which they are left to others. */
  readonly #leftToOthers = new Map<number, number>()
  readonly #isReady = Promise.withResolvers<void>()
  #told = ''
  #isTroubled = false

  constructor(store: EventStore, options: ShardOptions) {
    this.#store = store
    this.#options = options
    this.#timing = options.timing ?? machineTiming
    this.count = options.count
    this.ready = this.#isReady.promise
    this.#seats = new Seats({
      count: options.count,
      lease: seat => this.#newLease(seatName(options.count, seat), `seat ${seat}`),
      taken: (seats, signal) => this.#heldByAnybody(seats, seat => seatName(options.count, seat), signal),
    })
  }

  owns(stream: string): boolean {
    return this.#leases.get(shardOf(stream, this.count))?.isTrusted ?? false
  }

  held(): readonly number[] {
    return [...this.#leases].flatMap(([shard, lease]) => (lease.isTrusted ? [shard] : [])).sort((a, b) => a - b)
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      await Promise.all([this.#keepRenewing(signal), this.#keepLooking(signal)])
    } finally {
      this.#isReady.resolve()
      await this.#handBack()
    }
  }

  async #keepRenewing(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const [shard, lease] of this.#leases)
        if (lease.isDue) void this.#renew(lease, () => this.#drop(shard, lease), signal)
      const seat = this.#seats.lease
      if (seat?.isDue) void this.#renew(seat, () => this.#seats.lease === seat && this.#seats.lose(), signal)
      this.#tell()
      await this.#timing.pause(RENEW_LOOK_MS, signal)
    }
  }

  async #renew(lease: ShardLease, lost: () => void, signal: AbortSignal): Promise<void> {
    try {
      if ((await lease.renew(signal)) === 'lost') lost()
    } catch (error) {
      this.#trouble(error)
    }
  }

  async #keepLooking(signal: AbortSignal): Promise<void> {
    let failures = 0
    while (!signal.aborted) {
      try {
        await this.#look(signal)
        failures = 0
        this.#isTroubled = false
      } catch (error) {
        failures++
        if (!signal.aborted) this.#trouble(error)
      }
      this.#isReady.resolve()
      this.#tell()
      const patience = Math.min(MOST_PATIENT_MS, LOOK.leastMs * 2 ** failures)
      await this.#timing.pause(
        (failures === 0 ? LOOK.leastMs : patience) + this.#timing.random() * LOOK.jitterMs,
        signal,
      )
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    await this.#seats.look(signal)
    const short = this.#seats.quota - this.#leases.size
    if (short < 0) await this.#letGo(-short, signal)
    if (short > 0) await this.#take(short, signal)
  }

  async #letGo(surplus: number, signal: AbortSignal): Promise<void> {
    const going = [...this.#leases].sort(([a], [b]) => b - a).slice(0, surplus)
    for (const [shard] of going) {
      this.#leases.delete(shard)
      this.#leftToOthers.set(shard, this.#timing.monotonicMs() + LEFT_TO_OTHERS_MS)
    }
    this.#tell()
    await inParallel(going, ([, lease]) => lease.release(signal))
  }

  /** Takes up to so many of those that are free. */
  async #take(short: number, signal: AbortSignal): Promise<void> {
    const free = await this.#heldByNobody(this.#candidates(), signal)
    for (let missing = short; missing > 0 && free.length > 0; ) {
      const taken = await inParallel(free.splice(0, missing), shard => this.#takeOne(shard, signal))
      missing -= taken.filter(Boolean).length
    }
  }

  async #takeOne(shard: number, signal: AbortSignal): Promise<boolean> {
    const lease = this.#newLease(shardName(this.count, shard), `shard ${shard} of ${this.count}`)
    this.#leases.set(shard, lease)
    let isTaken = true
    try {
      // Without an answer it may be ours: renewing it tells.
      isTaken = (await lease.acquire(signal)) === 'taken'
    } finally {
      if (isTaken) this.#drop(shard, lease)
    }
    return !isTaken
  }

  /** Shards to look at, from a random one on: others who are short look at the same time. */
  #candidates(): number[] {
    const nowMs = this.#timing.monotonicMs()
    const from = Math.floor(this.#timing.random() * this.count)
    const all = Array.from({ length: this.count }, (_, at) => (from + at) % this.count)
    return all.filter(shard => !this.#leases.has(shard) && (this.#leftToOthers.get(shard) ?? 0) <= nowMs)
  }

  async #heldByNobody(shards: readonly number[], signal: AbortSignal): Promise<number[]> {
    const held = await this.#heldByAnybody(shards, shard => shardName(this.count, shard), signal)
    return shards.filter(shard => !held.includes(shard))
  }

  async #heldByAnybody(
    numbers: readonly number[],
    nameOf: (at: number) => string,
    signal: AbortSignal,
  ): Promise<number[]> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(READ_MS)])
    const states = await inParallel(
      numbers,
      async number => (await this.#store.read(nameOf(number), limited))?.lease.state,
    )
    return numbers.filter((_, at) => states[at] === 'leased' || states[at] === 'breaking')
  }
}

import type { StreamStore } from '../../store/store.ts'
import { InvalidValue } from '../../stream/errors.ts'
import type { Timing } from '../../util/clock.ts'
import { machineTiming } from '../../util/clock.ts'
import type { Ownership } from '../report.ts'
import { ShardAssignment } from './assignment.ts'
import { ShardDocuments, type ShardLease } from './lease.ts'
import { Membership } from './membership.ts'
import { MOST_SHARDS } from './quota.ts'

export interface ShardOptions {
  /** Into how many shards the streams are divided, 1 to 256; watchdogs that are to share them have to say the same. */
  readonly count: number
  /** Actor, `user@host`. */
  readonly by: string
  /** How long a dead watchdog keeps its shards, seconds, 15 to 60. Default 15. */
  readonly leaseS?: number
  readonly timing?: Timing
  /** A fresh UUID at each call. */
  readonly newId: () => string
  /** Shards were taken, let go or lost; told after the first look in any case, also if none is held. */
  readonly changed?: (held: readonly number[], count: number) => void
  /** The store does not answer or refuses; told once until it answers again. */
  readonly troubled?: (error: unknown) => void
  /** After that, it does again. */
  readonly recovered?: () => void
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
 * A watchdog keeps as many shards as its quota says, which follows from the seats that are taken (`Membership`): it lets go of
 * what is above it, and takes what is free below it. So a watchdog that comes gets its share, the shards of one that died
 * are taken over within lease + 2 s, and with nobody coming or going nothing moves.
 *
 * What it costs on Azure, at $0.0044 for 10 000 reads or lease operations: with 3 watchdogs and 16 shards each renews
 * 5 + 1 leases in 5 s and reads 3 seats in 1.2 s, 3.7 requests a second, $4.3 a month; with 2 and 4 it is $2.6. Shards are
 * looked at only by a watchdog that is short of some. No document is written after it was created.
 *
 * @throws `InvalidValue` for another number of shards than 1 to 256
 */
export function openShards(store: StreamStore, options: ShardOptions): Shards {
  const { count } = options
  if (!(Number.isInteger(count) && count >= 1 && count <= MOST_SHARDS)) {
    throw new InvalidValue(`there can be 1 to ${MOST_SHARDS} shards, not ${count}`)
  }
  return new WatchdogShards(store, options)
}

const LEASE_S = 15
/** From one look at what is to be renewed to the next, ms. */
const RENEW_LOOK_MS = 1_000
/** From one look at seats and shards to the next, ms: chance keeps watchdogs from meeting at each look. */
const LOOK = { leastMs: 1_000, jitterMs: 400 } as const
/** A store that does not answer is asked less and less often, down to once in this time, ms. */
const MOST_PATIENT_MS = 5_000

class WatchdogShards implements Shards {
  readonly count: number
  readonly ready: Promise<void>
  readonly #options: ShardOptions
  readonly #timing: Timing
  readonly #seats: Membership
  readonly #holdings: ShardAssignment
  readonly #isReady = Promise.withResolvers<void>()
  #told: string | undefined
  #hasLooked = false
  #isTroubled = false

  constructor(store: StreamStore, options: ShardOptions) {
    const { count, leaseS = LEASE_S, timing = machineTiming } = options
    const documents = new ShardDocuments(store, { ...options, leaseS, clock: timing })
    this.count = count
    this.ready = this.#isReady.promise
    this.#options = options
    this.#timing = timing
    this.#seats = new Membership(count, documents)
    this.#holdings = new ShardAssignment(count, documents, timing.random)
  }

  owns(stream: string): boolean {
    return this.#holdings.owns(stream)
  }

  held(): readonly number[] {
    return this.#holdings.trusted()
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#keepRenewing(signal), this.#keepLooking(signal)])
    this.#isReady.resolve()
    await Promise.all([this.#holdings.giveBack(), this.#seats.leave()])
    this.#tell()
  }

  /** Apart from the looks: a store that takes its time over one holds up no renewal. */
  async #keepRenewing(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { lease: seat } = this.#seats
      for (const lease of [...this.#holdings.leases(), ...(seat ? [seat] : [])]) {
        if (lease.isOver) this.#lose(lease)
        else if (lease.isDue) void this.#renew(lease, signal)
      }
      this.#tell()
      await this.#timing.pause(RENEW_LOOK_MS, signal)
    }
  }

  async #renew(lease: ShardLease, signal: AbortSignal): Promise<void> {
    try {
      if ((await lease.renew(signal)).kind === 'lost') this.#lose(lease)
    } catch (error) {
      this.#trouble(error)
    }
  }

  #lose(lease: ShardLease): void {
    this.#seats.lose(lease)
    this.#holdings.lose(lease)
  }

  async #keepLooking(signal: AbortSignal): Promise<void> {
    let restMs: number = LOOK.leastMs
    while (!signal.aborted) {
      try {
        await this.#look(signal)
        this.#recover()
        restMs = LOOK.leastMs
      } catch (error) {
        if (!signal.aborted) this.#trouble(error)
        restMs = Math.min(restMs * 2, MOST_PATIENT_MS)
      }
      this.#isReady.resolve()
      this.#hasLooked = true
      this.#tell()
      await this.#timing.pause(restMs + this.#timing.random() * LOOK.jitterMs, signal)
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const quota = await this.#seats.look(signal)
    const short = quota - this.#holdings.size
    if (short < 0) await this.#holdings.letGo(-short)
    if (short > 0) await this.#holdings.take(short, signal)
  }

  #tell(): void {
    const held = this.held()
    if (!this.#hasLooked || this.#told === held.join()) return
    this.#told = held.join()
    this.#options.changed?.(held, this.count)
  }

  #recover(): void {
    if (this.#isTroubled) this.#options.recovered?.()
    this.#isTroubled = false
  }

  #trouble(error: unknown): void {
    if (!this.#isTroubled) this.#options.troubled?.(error)
    this.#isTroubled = true
  }
}

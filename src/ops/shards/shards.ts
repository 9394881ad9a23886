import type { StreamStore } from '../../store/store.ts'
import { InvalidValue } from '../../stream/errors.ts'
import type { Timing } from '../../util/clock.ts'
import { machineTiming } from '../../util/clock.ts'
import { ShardAssignment } from './assignment.ts'
import { ShardDocuments, type ShardLease } from './lease.ts'
import { Membership } from './membership.ts'
import { MOST_SHARDS, type ShardPart } from './quota.ts'

export interface ShardOptions {
  /** The folder of the leased documents, below `.leasectl/`: who share it share the work. */
  readonly folder: string
  /** Who shares, in a word, for the holders of leases as others see them: `watchdog`. */
  readonly role: string
  /** The text of a shard's document when it is created, if it has content of its own; by default only its lease matters. */
  readonly content?: string
  /** Total number of shards, 1 to `most`; the same for all members that share streams. */
  readonly count: number
  /** The most shards. Default 256. */
  readonly most?: number
  /**
   * Only this part of the shards, from 0: those of the streams whose names hash to it. The number of shards is a multiple
   * of that of the parts.
   */
  readonly part?: ShardPart | undefined
  /** Actor, `user@host`. */
  readonly by: string
  /** How long a dead member keeps its shards, seconds, 15 to 60. Default 15. */
  readonly leaseS?: number
  readonly timing?: Timing
  /** A fresh UUID at each call. */
  readonly newId: () => string
  /** Shards were taken, released or lost; also called after the first check, even if none is held. */
  readonly changed?: (held: readonly number[], count: number) => void
  /** The store does not answer or refuses; reported once until it answers again. */
  readonly troubled?: (error: unknown) => void
  /** The store answers again. */
  readonly recovered?: () => void
}

/** The streams that belong to this member. */
export interface Ownership {
  owns(stream: string): boolean
}

/** The shards of one member. */
export interface Shards extends Ownership {
  /** Total number of shards. */
  readonly count: number
  /** The shards held now, by its own clock. */
  held(): readonly number[]
  /** The lease id of a shard that is held now, to write its document. */
  leaseIdOf(shard: number): string | undefined
  /** The document of a shard. */
  nameOf(shard: number): string
  /** Resolves after the first check for shards, whatever its result. */
  readonly ready: Promise<void>
  /**
   * Takes, renews and releases shards until the signal aborts, then releases all, within 2 s. Runs beside the passes,
   * so that a long pass delays no renewal. No fault of the store ends it.
   */
  run(signal: AbortSignal): Promise<void>
}

/**
 * Several processes share the work on a store: a stream belongs to the shard of its name, and a shard to the member
 * that holds the lease of `{folder}/{count}/{shard}`. Whoever was suspended may believe a moment too long that a shard is
 * its own, so its work must be idempotent, or written under the lease.
 *
 * A member keeps the number of shards in its quota, which follows from the taken seats (`Membership`): it releases
 * surplus shards and takes free ones. So a new member gets its share, the shards of a dead one are taken over within
 * lease + 2 s, and without changes in membership no shard moves.
 *
 * Cost on Azure, at $0.0044 for 10 000 reads or lease operations: with 3 members and 16 shards each renews 5 + 1
 * leases in 5 s and reads 3 seats in 1.2 s, 3.7 requests a second, $4.3 a month; with 2 and 4 it is $2.6. Only a
 * member below its quota checks shards.
 *
 * @throws `InvalidValue` unless the number of shards is from 1 to 256 and a multiple of that of the parts
 */
export function openShards(store: StreamStore, options: ShardOptions): Shards {
  checkShards(options)
  return new LeasedShards(store, options)
}

/** @throws `InvalidValue` as `openShards` */
export function checkShards({ count, part, most = MOST_SHARDS }: Pick<ShardOptions, 'count' | 'part' | 'most'>): void {
  if (!(Number.isInteger(count) && count >= 1 && count <= most)) {
    throw new InvalidValue(`the number of shards must be from 1 to ${most}, not ${count}`)
  }
  if (part !== undefined && count % part.count !== 0) {
    throw new InvalidValue(`${count} shards cannot be divided into ${part.count} partitions`, {
      hint: 'The number of shards must be a multiple of the number of partitions.',
    })
  }
}

const LEASE_S = 15
/** Interval of checks for leases to be renewed, ms. */
const RENEW_CHECK_MS = 1_000
/** Interval of checks of seats and shards, ms: jitter keeps members from colliding each time. */
const CHECK = { leastMs: 1_000, jitterMs: 400 } as const
/** The longest interval of checks while the store does not answer, ms. */
const MOST_PATIENT_MS = 5_000

class LeasedShards implements Shards {
  readonly count: number
  readonly ready: Promise<void>
  readonly #options: ShardOptions
  readonly #documents: ShardDocuments
  readonly #timing: Timing
  readonly #seats: Membership
  readonly #holdings: ShardAssignment
  readonly #isReady = Promise.withResolvers<void>()
  #reported: string | undefined
  #hasChecked = false
  #isFailing = false

  constructor(store: StreamStore, options: ShardOptions) {
    const { count, leaseS = LEASE_S, timing = machineTiming } = options
    const documents = new ShardDocuments(store, { ...options, leaseS, clock: timing })
    this.count = count
    this.#documents = documents
    this.ready = this.#isReady.promise
    this.#options = options
    this.#timing = timing
    this.#seats = new Membership(count / (options.part?.count ?? 1), documents)
    this.#holdings = new ShardAssignment(count, documents, timing.random, options.part)
  }

  owns(stream: string): boolean {
    return this.#holdings.owns(stream)
  }

  held(): readonly number[] {
    return this.#holdings.trusted()
  }

  leaseIdOf(shard: number): string | undefined {
    return this.#holdings.leaseIdOf(shard)
  }

  nameOf(shard: number): string {
    return this.#documents.shardName(shard)
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#keepRenewing(signal), this.#keepChecking(signal)])
    this.#isReady.resolve()
    await Promise.all([this.#holdings.giveBack(), this.#seats.leave()])
    this.#report()
  }

  /** Separate from the checks, so that a slow check delays no renewal. */
  async #keepRenewing(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { lease: seat } = this.#seats
      for (const lease of [...this.#holdings.leases(), ...(seat ? [seat] : [])]) {
        if (lease.isOver) this.#lose(lease)
        else if (lease.isDue) void this.#renew(lease, signal)
      }
      this.#report()
      await this.#timing.pause(RENEW_CHECK_MS, signal)
    }
  }

  async #renew(lease: ShardLease, signal: AbortSignal): Promise<void> {
    try {
      if ((await lease.renew(signal)).kind === 'lost') this.#lose(lease)
    } catch (error) {
      this.#reportFault(error)
    }
  }

  #lose(lease: ShardLease): void {
    this.#seats.lose(lease)
    this.#holdings.lose(lease)
  }

  async #keepChecking(signal: AbortSignal): Promise<void> {
    let restMs: number = CHECK.leastMs
    while (!signal.aborted) {
      try {
        await this.#check(signal)
        this.#reportRecovery()
        restMs = CHECK.leastMs
      } catch (error) {
        if (!signal.aborted) this.#reportFault(error)
        restMs = Math.min(restMs * 2, MOST_PATIENT_MS)
      }
      this.#isReady.resolve()
      this.#hasChecked = true
      this.#report()
      await this.#timing.pause(restMs + this.#timing.random() * CHECK.jitterMs, signal)
    }
  }

  async #check(signal: AbortSignal): Promise<void> {
    const quota = await this.#seats.check(signal)
    const short = quota - this.#holdings.size
    if (short < 0) await this.#holdings.letGo(-short)
    if (short > 0) await this.#holdings.take(short, signal)
  }

  #report(): void {
    const held = this.held()
    if (!this.#hasChecked || this.#reported === held.join()) return
    this.#reported = held.join()
    this.#options.changed?.(held, this.count)
  }

  #reportRecovery(): void {
    if (this.#isFailing) this.#options.recovered?.()
    this.#isFailing = false
  }

  #reportFault(error: unknown): void {
    if (!this.#isFailing) this.#options.troubled?.(error)
    this.#isFailing = true
  }
}

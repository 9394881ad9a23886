import { inParallel, type ShardDocuments, type ShardLease } from './lease.ts'
import { type ShardPart, shardOf } from './quota.ts'

/** The shards that one member holds or may hold. */
export class ShardAssignment {
  readonly #count: number
  readonly #part: ShardPart
  readonly #documents: ShardDocuments
  readonly #random: () => number
  readonly #leases = new Map<number, ShardLease>()

  /** @param part a part of the shards; the others are never taken */
  constructor(count: number, documents: ShardDocuments, random: () => number, part?: ShardPart) {
    this.#count = count
    this.#part = part ?? { index: 0, count: 1 }
    this.#documents = documents
    this.#random = random
  }

  /** Number of shards that it holds or may hold. */
  get size(): number {
    return this.#leases.size
  }

  owns(stream: string): boolean {
    return this.#leases.get(shardOf(stream, this.#count))?.isTrusted ?? false
  }

  /** The shards that certainly belong to this member now. */
  trusted(): readonly number[] {
    return [...this.#leases].flatMap(([shard, lease]) => (lease.isTrusted ? [shard] : [])).sort((a, b) => a - b)
  }

  /** The lease id of a shard that certainly belongs to this member now. */
  leaseIdOf(shard: number): string | undefined {
    const lease = this.#leases.get(shard)
    return lease?.isTrusted ? lease.leaseId : undefined
  }

  leases(): readonly ShardLease[] {
    return [...this.#leases.values()]
  }

  /** The lease belongs to another member, or is gone. */
  lose(lost: ShardLease): void {
    for (const [shard, lease] of this.#leases) if (lease === lost) this.#leases.delete(shard)
  }

  /** Releases shards, the last ones first. All are given up before the first of them becomes free for others. */
  async letGo(surplus: number): Promise<void> {
    const going = [...this.#leases].sort(([a], [b]) => b - a).slice(0, surplus)
    await this.#release(going)
  }

  async giveBack(): Promise<void> {
    await this.#release([...this.#leases])
  }

  async #release(going: readonly (readonly [number, ShardLease])[]): Promise<void> {
    for (const [shard] of going) this.#leases.delete(shard)
    await Promise.all(going.map(([, lease]) => lease.giveBack()))
  }

  /** Takes up to `short` free shards. @throws the store's faults; shards taken before are kept */
  async take(short: number, signal: AbortSignal): Promise<void> {
    const candidates = this.#candidates()
    const leased = await this.#documents.leased(candidates, this.#documents.shardName, signal)
    const free = candidates.filter(shard => !leased.has(shard))
    const wanted = this.size + short
    while (this.size < wanted && free.length > 0) {
      await inParallel(free.splice(0, wanted - this.size), shard => this.#takeOne(shard, signal))
    }
  }

  async #takeOne(shard: number, signal: AbortSignal): Promise<void> {
    const lease = this.#documents.shardLease(shard)
    this.#leases.set(shard, lease)
    let isOurs = false
    try {
      // Without an answer the lease may be ours: renewing it shows whether it is.
      isOurs = (await lease.take(signal)) !== 'taken'
    } finally {
      if (!isOurs) this.lose(lease)
    }
  }

  /** Shards to examine, starting at a random one, since others may search at the same time. */
  #candidates(): number[] {
    const from = Math.floor(this.#random() * this.#count)
    const all = Array.from({ length: this.#count }, (_, at) => (from + at) % this.#count)
    const { index, count } = this.#part
    return all.filter(shard => shard % count === index && !this.#leases.has(shard))
  }
}

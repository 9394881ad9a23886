import { shardOf } from '../../ops/shards/quota.ts'
import { StoreIncompatible, StoreUnreachable } from '../../store/errors.ts'
import { ShardPosition } from '../../subscriptions/position/position.ts'
import type { Timing } from '../../util/clock.ts'
import { type HookPosition, type PositionStore, startHookDocument } from './position-store.ts'
import type { Hook } from './target.ts'
import { type DeliveredIds, deliveryKey, shortId } from './told.ts'

/** A position is written after this time, and less often if nothing was delivered meanwhile. */
const WRITE_EVERY_MS = 10_000
const WRITE_IDLE_EVERY_MS = 5 * 60_000
/** Age of the assumed position if the real one cannot be read. */
const UNKNOWN_MS = 60 * 60_000
const READ_TRIES = 6
const LONGEST_PAUSE_MS = 10_000

export interface HookPositionsOptions {
  readonly hooks: readonly Hook[]
  readonly memory: (key: string) => PositionStore
  /** Receives the ids that other watchdogs delivered. */
  readonly told: DeliveredIds
  readonly timing: Timing
  /** The store's clock. */
  readonly nowMs: () => number
  readonly onTrouble: (message: string, error: unknown) => void
  /** The watchdog holds none of this number of shards until they are assigned; without it, it holds the whole store. */
  readonly shards?: number | undefined
  /** Aborts when the watchdog stops: a store that does not answer is not waited for. */
  readonly signal: AbortSignal
}

/** One hook in one shard of the store that this watchdog holds. */
export class HookShard {
  readonly hook: Hook
  readonly shard: number
  readonly position: ShardPosition
  /** Where this watchdog began, epoch ms. */
  readonly sinceMs: number
  readonly told: string[]
  /** Another watchdog may hold the shard. */
  isLost = false
  /** Streams were found and not taken: the position stays before them, and the next watchdog finds them. */
  hasMissed = false
  /** A whole sweep was made since the position was read: what was reported before it was reported to this position. */
  isSwept = false
  /** A sweep began since then. */
  isSweeping = false
  isTouched = false
  /** A newer leasectl wrote it: it must not be replaced. */
  isForeign = false
  writtenMs: number
  writtenMark: number

  constructor(hook: Hook, shard: number, { document, told }: HookPosition, nowMs: number) {
    this.hook = hook
    this.shard = shard
    this.position = new ShardPosition(document, nowMs)
    this.sinceMs = document.watermarkMs
    this.told = [...told]
    this.writtenMs = nowMs
    this.writtenMark = document.watermarkMs
  }

  beginSweep(startedMs: number): void {
    this.isSweeping = true
    this.position.beginSweep(startedMs)
  }

  /** A delivery that has no version was made: it must not be made again after a restart. */
  tell(deliveryId: string): void {
    this.told.push(shortId(deliveryId))
    if (this.told.length > 500) this.told.shift()
  }
}

/**
 * The positions of all hooks in the shards of this watchdog. A shard that is taken over continues at the position of its
 * last watchdog, so deliveries that one left are made now.
 */
export class HookPositions {
  readonly #options: HookPositionsOptions
  readonly #taken: (shard: HookShard) => void
  /** By shard, in the order of the hooks. */
  #held = new Map<number, readonly HookShard[]>()
  #count = 1
  #loading: Promise<void> | undefined
  #writing: Promise<void> | undefined
  #isFailing = false

  /** @param taken called for each position that was read */
  constructor(options: HookPositionsOptions, taken: (shard: HookShard) => void) {
    this.#options = options
    this.#taken = taken
  }

  /** Sets the shards of this watchdog. Does not wait, since a lease may have to be renewed meanwhile. */
  take(held: readonly number[], count: number): void {
    const before = this.#loading
    const lost = [...this.#held].filter(([shard]) => count !== this.#count || !held.includes(shard))
    for (const [shard, positions] of lost) {
      for (const position of positions) {
        // The next owner starts here.
        if (position.isTouched) void this.#writeOne(position)
        position.isLost = true
      }
      this.#held.delete(shard)
    }
    this.#count = count
    this.#loading = (async () => {
      await before
      const taken = held.filter(shard => !this.#held.has(shard))
      await Promise.all(taken.map(shard => this.#load(shard, count)))
    })()
  }

  /** Resolves once all positions are read. */
  async ready(): Promise<void> {
    if (this.#loading === undefined && this.#options.shards === undefined) this.take([0], 1)
    await this.#loading
  }

  /** The positions of all hooks in the shard of a stream; empty if it is not ours. */
  of(stream: string): readonly HookShard[] {
    return this.#held.get(this.#count === 1 ? 0 : shardOf(stream, this.#count)) ?? []
  }

  *all(): Generator<HookShard> {
    for (const positions of this.#held.values()) yield* positions
  }

  /** Writes the positions that are due. */
  write(): void {
    this.#writing ??= this.#writeAll(shard => this.#isDue(shard)).finally(() => {
      this.#writing = undefined
    })
  }

  /** Resolves when no write is in progress. */
  async written(): Promise<void> {
    await this.#writing
  }

  /** Writes everything and waits for it. */
  async flush(): Promise<void> {
    await this.#writing
    await this.#writeAll(({ isTouched, position, writtenMark }) => isTouched || position.watermarkMs > writtenMark)
  }

  #isDue({ isTouched, position, writtenMs, writtenMark }: HookShard): boolean {
    const ageMs = Math.max(this.#options.nowMs() - writtenMs, position.watermarkMs - writtenMark)
    if (isTouched) return ageMs >= WRITE_EVERY_MS
    return position.watermarkMs > writtenMark && ageMs >= WRITE_IDLE_EVERY_MS
  }

  async #writeAll(isDue: (shard: HookShard) => boolean): Promise<void> {
    await Promise.all([...this.all()].filter(isDue).map(shard => this.#writeOne(shard)))
  }

  async #writeOne(shard: HookShard): Promise<void> {
    const { position, told, hook, shard: number, isForeign } = shard
    if (isForeign) return
    shard.isTouched = false
    const status = { by: '', host: '', delivered: 0, lagMs: 0, rate: 0, atMs: 0 }
    const document = position.document(status)
    const nowMs = this.#options.nowMs()
    try {
      const isWritten = await this.#options.memory(hook.key).write(number, this.#count, { document, told: [...told] })
      this.#isFailing = false
      if (!isWritten) shard.isTouched = true
      else {
        shard.writtenMs = nowMs
        shard.writtenMark = document.watermarkMs
      }
    } catch (error) {
      shard.isTouched = true
      const text = 'the position of hooks cannot be written: a restart may repeat more deliveries'
      if (!this.#isFailing) this.#options.onTrouble(text, error)
      this.#isFailing = true
    }
  }

  async #load(shard: number, count: number): Promise<void> {
    const positions = await Promise.all(this.#options.hooks.map(hook => this.#loadOne(hook, shard, count)))
    if (count !== this.#count) return
    this.#held.set(shard, positions)
    for (const position of positions) this.#taken(position)
  }

  async #loadOne(hook: Hook, shard: number, count: number): Promise<HookShard> {
    const { nowMs, memory, told } = this.#options
    const found = await this.#read(memory(hook.key), shard, count)
    const isUnknown = found === 'unknown' || found === 'newer'
    const startMs = isUnknown ? nowMs() - UNKNOWN_MS : nowMs()
    const start = { document: startHookDocument(startMs, nowMs(), ''), told: [] }
    const read = typeof found === 'object' ? found : start
    // A wrong clock may have written a time in the future.
    const watermarkMs = Math.min(read.document.watermarkMs, nowMs())
    const position = new HookShard(hook, shard, { ...read, document: { ...read.document, watermarkMs } }, nowMs())
    position.isForeign = found === 'newer'
    for (const id of position.told) told.add(deliveryKey(hook.key, id))
    // The very first start: if this watchdog dies during its first sweep, the next one starts here.
    if (found === undefined) await this.#writeOne(position)
    return position
  }

  async #read(
    memory: PositionStore,
    shard: number,
    count: number,
  ): Promise<HookPosition | undefined | 'unknown' | 'newer'> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await memory.read(shard, count)
      } catch (error) {
        if (this.#options.signal.aborted) return 'unknown'
        if (!(error instanceof StoreUnreachable) || tries >= READ_TRIES) {
          const text = 'the position of hooks cannot be read: events of the last hour may be delivered again'
          this.#options.onTrouble(text, error)
          return error instanceof StoreIncompatible ? 'newer' : 'unknown'
        }
        await this.#options.timing.pause(Math.min(1_000 * 2 ** (tries - 1), LONGEST_PAUSE_MS), this.#options.signal)
      }
    }
  }
}

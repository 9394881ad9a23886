import { randomUUID } from 'node:crypto'
import { shardOf } from '../../ops/shards/quota.ts'
import { StoreIncompatible, StoreUnreachable } from '../../store/errors.ts'
import type { PositionDocument } from '../../subscriptions/position/document.ts'
import type { ShardPositions } from '../../subscriptions/positions.ts'
import { BoundedMap } from '../../util/bounded-map.ts'
import type { Timing } from '../../util/clock.ts'
import { sleepUntilAborted } from '../../util/concurrency.ts'
import type { Expiry } from '../decision.ts'
import type { HookEvent } from './events.ts'
import { type HookPosition, type PositionStore, startHookDocument } from './position-store.ts'

/** Age of the assumed position if the real one cannot be read. */
const UNKNOWN_MS = 60 * 60_000
const READ_TRIES = 6
const LONGEST_PAUSE_MS = 10_000
/** Number of remembered ids of deliveries that have no version; the last of them are written. */
const MOST_TOLD = 50_000

export interface HookPositionsOptions {
  readonly memory: PositionStore
  readonly timing: Timing
  /** The store's clock. */
  readonly nowMs: () => number
  readonly onTrouble: (message: string, error: unknown) => void
  /** The watchdog holds none of this number of shards until they are assigned; without it, it holds the whole store. */
  readonly shards?: number | undefined
}

/** A shard that this watchdog holds. */
class HookShard {
  readonly tenure: string
  /** Where this watchdog began, epoch ms. */
  sinceMs: number
  readonly told = new BoundedMap<string, true>(MOST_TOLD)
  /** Notices that were not delivered, by stream and command id. */
  readonly notices = new Map<string, Map<string, Expiry>>()
  /** A newer leasectl wrote it: it must not be replaced. */
  isForeign = false

  constructor(tenure: string, sinceMs: number) {
    this.tenure = tenure
    this.sinceMs = sinceMs
  }

  add(due: Expiry): void {
    const others = this.notices.get(due.stream) ?? new Map<string, Expiry>()
    this.notices.set(due.stream, others.set(due.commandId, due))
  }

  position(document: PositionDocument): HookPosition {
    const notices = [...this.notices.values()].flatMap(each => [...each.values()])
    return { document, tenure: this.tenure, told: [...this.told.keys()], notices }
  }
}

/** The positions of one hook, in the shards that the watchdog holds. */
export class HookPositions implements ShardPositions {
  readonly ready = Promise.resolve()
  readonly #options: HookPositionsOptions
  #shards = new Map<number, HookShard>()
  #count = 1

  constructor(options: HookPositionsOptions) {
    this.#options = options
    // Watchdogs without shards write one position: what each of them wrote is true.
    if (options.shards === undefined) this.#shards.set(0, new HookShard('', options.nowMs()))
  }

  get count(): number {
    return this.#count
  }

  /** Sets the shards of this watchdog. */
  take(held: readonly number[], count: number): void {
    const before = count === this.#count ? this.#shards : new Map<number, HookShard>()
    const taken = () => new HookShard(randomUUID(), this.#options.nowMs())
    this.#shards = new Map(held.map(shard => [shard, before.get(shard) ?? taken()]))
    this.#count = count
  }

  held(): readonly number[] {
    return [...this.#shards.keys()]
  }

  tenureOf(shard: number): string | undefined {
    return this.#shards.get(shard)?.tenure
  }

  async read(shard: number, _: string, signal: AbortSignal): Promise<PositionDocument> {
    const { nowMs, memory } = this.#options
    const held = this.#shards.get(shard)
    const found = await this.#read(shard, signal)
    const start = startHookDocument(typeof found === 'string' ? nowMs() - UNKNOWN_MS : nowMs(), nowMs(), '')
    const {
      document: read,
      told,
      notices,
    } = typeof found === 'object' ? found : { document: start, told: [], notices: [] }
    // A wrong clock may have written a time in the future. Each watchdog has all tries.
    const streams = read.streams.map(stream => ({ ...stream, tries: 0, attempts: 0, nextMs: 0 }))
    const document = { ...read, streams, watermarkMs: Math.min(read.watermarkMs, nowMs()) }
    if (held === undefined) return document
    held.sinceMs = document.watermarkMs
    held.isForeign = found === 'newer'
    for (const id of told) held.told.set(id, true)
    for (const notice of notices) held.add(notice)
    // The next watchdog starts here, also if this one dies in its first sweep; and the last one writes no more.
    if (found === undefined || (held.tenure !== '' && !held.isForeign)) {
      await memory.write(shard, this.#count, held.position(document), true).catch(() => 'busy')
    }
    return document
  }

  async write(shard: number, tenure: string, document: PositionDocument): Promise<'written' | 'lost' | 'busy'> {
    const held = this.#shards.get(shard)
    if (held?.tenure !== tenure) return 'lost'
    return held.isForeign ? 'written' : this.#options.memory.write(shard, this.#count, held.position(document), false)
  }

  async run(signal: AbortSignal): Promise<void> {
    await sleepUntilAborted(Number.POSITIVE_INFINITY, signal)
  }

  /** Where this watchdog began with the shard of a stream, epoch ms. */
  sinceMs(stream: string): number {
    return this.#of(stream)?.sinceMs ?? this.#options.nowMs()
  }

  isTold({ stream, id }: HookEvent): boolean {
    return this.#of(stream)?.told.has(shortId(id)) ?? false
  }

  /** @param isKnownById it has no version, so that its id must be remembered */
  told({ stream, id, commandId, what }: HookEvent, isKnownById: boolean): void {
    const shard = this.#of(stream)
    if (isKnownById) shard?.told.set(shortId(id), true)
    if (!('due' in what)) return
    const notices = shard?.notices.get(stream)
    notices?.delete(commandId)
    if (notices?.size === 0) shard?.notices.delete(stream)
  }

  /** A notice that is to be delivered. */
  notify(due: Expiry): void {
    this.#of(due.stream)?.add(due)
  }

  noticesOf(stream: string): readonly Expiry[] {
    return [...(this.#of(stream)?.notices.get(stream)?.values() ?? [])]
  }

  noticed(shard: number): readonly string[] {
    return [...(this.#shards.get(shard)?.notices.keys() ?? [])]
  }

  /** There is no such stream: its notices are of no use. */
  forget(stream: string): void {
    this.#of(stream)?.notices.delete(stream)
  }

  #of(stream: string): HookShard | undefined {
    return this.#shards.get(this.#count === 1 ? 0 : shardOf(stream, this.#count))
  }

  async #read(shard: number, signal: AbortSignal): Promise<HookPosition | undefined | 'unknown' | 'newer'> {
    const { memory, timing, onTrouble } = this.#options
    for (let tries = 1; ; tries += 1) {
      try {
        return await memory.read(shard, this.#count)
      } catch (error) {
        if (signal.aborted) return 'unknown'
        if (!(error instanceof StoreUnreachable) || tries >= READ_TRIES) {
          onTrouble('the position of hooks cannot be read: events of the last hour may be delivered again', error)
          return error instanceof StoreIncompatible ? 'newer' : 'unknown'
        }
        await timing.pause(Math.min(1_000 * 2 ** (tries - 1), LONGEST_PAUSE_MS), signal)
      }
    }
  }
}

/** The first half of the number in `done-0123456789abcdef0123456789abcdef`. */
export function shortId(deliveryId: string): string {
  return deliveryId.slice(-32, -16)
}

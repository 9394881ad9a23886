import { StoreUnreachable } from '../store/errors.ts'
import type { Timing } from '../util/clock.ts'
import type { StreamDelivery } from './deliver.ts'
import type { StreamInHand } from './position/position.ts'
import type { HeldShard } from './shard.ts'

export interface LaneOptions {
  /** Streams side by side. */
  readonly concurrency: number
  readonly timing: Timing
  /** No further stream is begun. */
  readonly stopping: AbortSignal
  readonly held: () => readonly HeldShard[]
  /** A lane has ended: there may be room for other streams. */
  readonly ended: () => void
  /** The store does not answer (an error), or does again. */
  readonly store: (trouble: StoreUnreachable | undefined) => void
  /** A fault that waiting does not mend. */
  readonly failed: (error: unknown) => void
}

/** Nothing is read for this time after the store did not answer, ms. */
const AWAY_MS = 1_000

/** Works on streams side by side, shard by shard in turns, each stream in one lane at a time. */
export class DeliveryLanes {
  readonly #delivery: StreamDelivery
  readonly #options: LaneOptions
  readonly #lanes = new Set<Promise<void>>()
  /** Streams that a lane works on, whichever shard they were taken for. */
  readonly #active = new Set<string>()
  #awayUntilMs = 0
  #turn = 0

  constructor(delivery: StreamDelivery, options: LaneOptions) {
    this.#delivery = delivery
    this.#options = options
  }

  /** Begins as many streams as may run. */
  fill(): void {
    const { concurrency, timing, stopping, held } = this.#options
    if (timing.monotonicMs() < this.#awayUntilMs) return
    const shards = held()
    let idle = 0
    while (this.#lanes.size < concurrency && idle < shards.length && !stopping.aborted) {
      const shard = shards[this.#turn++ % shards.length]
      const stream = shard?.isHeld && shard.mayDeliver ? this.#nextOf(shard) : undefined
      if (shard === undefined || stream === undefined) idle += 1
      else {
        idle = 0
        this.#begin(shard, stream)
      }
    }
  }

  /** Resolves when no lane works. Call it once no further stream is begun. */
  async idle(): Promise<void> {
    await Promise.all(this.#lanes)
  }

  /** The next stream of the shard that no lane works on. */
  #nextOf(shard: HeldShard): StreamInHand | undefined {
    for (let left = shard.ready.length; left > 0; left--) {
      const stream = shard.ready.shift()
      if (stream === undefined) return undefined
      if (!shard.position.isInHand(stream)) continue
      const isNew = !shard.position.halted.has(stream.name)
      if (!this.#active.has(stream.name) && !(isNew && shard.isFull)) return stream
      shard.ready.push(stream)
    }
    return undefined
  }

  #begin(shard: HeldShard, stream: StreamInHand): void {
    this.#active.add(stream.name)
    const lane = this.#work(shard, stream).finally(() => {
      this.#active.delete(stream.name)
      this.#lanes.delete(lane)
      this.#options.ended()
      this.fill()
    })
    this.#lanes.add(lane)
  }

  async #work(shard: HeldShard, stream: StreamInHand): Promise<void> {
    const { failed, store, timing } = this.#options
    try {
      const outcome = await this.#delivery.deliver(shard, stream)
      if (outcome !== 'over') shard.ready.push(stream)
      if (outcome !== 'away') return store(undefined)
      this.#awayUntilMs = timing.monotonicMs() + AWAY_MS
      store(new StoreUnreachable(`the stream ${stream.name} could not be read`))
    } catch (error) {
      failed(error)
    }
  }
}

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
  /** The store does not answer when a stream is read (an error), or does again. */
  readonly store: (trouble: StoreUnreachable | undefined, stream?: string) => void
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
      const stream = shard?.isHeld && shard.mayDeliver ? shard.next(name => this.#active.has(name)) : undefined
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
      if ((await this.#delivery.deliver(shard, stream)) === 'again') shard.queue(stream)
      store(undefined)
    } catch (error) {
      if (!(error instanceof StoreUnreachable)) return failed(error)
      shard.queue(stream)
      this.#awayUntilMs = timing.monotonicMs() + AWAY_MS
      store(error, stream.name)
    }
  }
}

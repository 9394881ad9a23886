import { thisHost } from '../ops/transact/transact.ts'
import type { Timing } from '../util/clock.ts'
import { RateMeter } from '../util/rate-meter.ts'
import { ShardPosition, type StreamInHand } from './position/position.ts'
import type { ShardPositions } from './positions.ts'
import { lagSince } from './subscription.ts'

export interface ShardRunOptions {
  readonly positions: ShardPositions
  readonly by: string
  /** When its subscription was created, epoch ms: its lag is counted from then on. */
  readonly createdMs?: number | undefined
  /** The store's clock. */
  readonly nowMs: () => number
  readonly timing: Timing
  /** An idle shard writes how far it is, ms. Default 30 s. */
  readonly writeIdleEveryMs?: number | undefined
  /** Deliveries go on while the position cannot be written. */
  readonly goesOnUnwritten?: boolean
  /** A position is written now: others that are worth it should be, too, since stores write several together. */
  readonly writing: () => void
  /** The outcome of writing the position: an error, or `undefined` if it was written. */
  readonly wrote: (trouble: unknown) => void
}

/** Deliveries that a process may have handled and not written, at most: they are repeated if it dies. */
const MOST_UNWRITTEN = 100
/** A position is written after this number of deliveries, so that they need not pause. */
const WRITE_AFTER = 80
/** A position is written at the latest this time after the first delivery, ms. */
const WRITE_AFTER_MS = 900
/** Deliveries pause while one has been unwritten for this time, ms. */
const LONGEST_UNWRITTEN_MS = 1_500
/** An idle shard writes how far it is, ms. */
const WRITE_IDLE_EVERY_MS = 30_000
/** A position that could not be written is written again after this time, ms. */
const WRITE_AGAIN_MS = 500
/** Waiting and parked streams, at most: beyond that something is wrong with all of them. */
const MOST_HALTED = 1_000

/** One shard that this process holds: its position, read when the shard was taken and written while it is held. */
export class HeldShard {
  readonly number: number
  readonly position: ShardPosition
  /** Streams that are left to the next process. They stay in hand. */
  readonly left = new Set<StreamInHand>()
  readonly #options: ShardRunOptions
  readonly #tenure: string
  readonly #fresh = new StreamQueue()
  readonly #resumed = new StreamQueue()
  readonly #rate = new RateMeter()
  readonly #waiters = new Set<() => void>()
  #delivered: number
  /** Handled and not written, or being written now. */
  #unwritten = 0
  #inWrite = 0
  #running = 0
  #firstUnwrittenMs: number | undefined
  /** The first change in the write in progress. */
  #inWriteSinceMs: number | undefined
  #isChanged = false
  #lastWriteMs: number
  #notBeforeMs = 0
  #writing: Promise<void> | undefined
  #isLost = false

  private constructor(
    options: ShardRunOptions,
    held: { readonly number: number; readonly tenure: string; readonly position: ShardPosition; delivered: number },
  ) {
    this.#options = options
    this.#tenure = held.tenure
    this.number = held.number
    this.position = held.position
    this.#delivered = held.delivered
    this.#lastWriteMs = options.timing.monotonicMs()
    for (const stream of held.position.inHand.values()) this.queue(stream)
  }

  /** Reads the position of a shard that is held. @throws the store's faults and those of `parsePosition` */
  static async read(options: ShardRunOptions, number: number, tenure: string, signal: AbortSignal): Promise<HeldShard> {
    const document = await options.positions.read(number, tenure, signal)
    const position = new ShardPosition(document, options.nowMs())
    return new HeldShard(options, { number, tenure, position, delivered: document.status.delivered })
  }

  /**
   * False once another process may hold it: nothing more is started or written. It stays so if the lease is renewed after
   * all, since streams were left in between: the position is read again.
   */
  get isHeld(): boolean {
    if (!this.#isLost && this.#options.positions.tenureOf(this.number) !== this.#tenure) this.lose()
    return !this.#isLost
  }

  get delivered(): number {
    return this.#delivered
  }

  /** Age of the oldest transaction that is not handled, ms. */
  get lagMs(): number {
    const nowMs = this.#options.nowMs()
    let oldestMs = nowMs
    for (const { sinceMs } of this.position.inHand.values()) oldestMs = Math.min(oldestMs, sinceMs)
    for (const { state, sinceMs } of this.position.halted.values()) {
      if (state === 'waiting' && sinceMs > 0) oldestMs = Math.min(oldestMs, sinceMs)
    }
    return lagSince(oldestMs, this.#options.createdMs ?? 0, nowMs)
  }

  get rate(): number {
    return this.#rate.perSecond(this.#options.timing.monotonicMs())
  }

  /** Too many streams wait: no other is begun. */
  get isFull(): boolean {
    return this.position.halted.size >= MOST_HALTED
  }

  /** Whether a delivery may begin: the number and age of those that would be repeated are bounded. */
  get mayDeliver(): boolean {
    if (this.#options.goesOnUnwritten && this.#notBeforeMs > 0) return true
    if (this.#unwritten + this.#inWrite + this.#running >= MOST_UNWRITTEN) return false
    return this.#unwrittenForMs() < LONGEST_UNWRITTEN_MS
  }

  /** A write now would save one soon. */
  get isWorthWriting(): boolean {
    return this.#unwritten >= 0.7 * WRITE_AFTER || this.#unwrittenForMs() >= 0.7 * WRITE_AFTER_MS
  }

  /** Something was not written yet. */
  get isChanged(): boolean {
    return this.#isChanged
  }

  /** Something is to be written soon: handled transactions, or streams that wait. */
  get hasWork(): boolean {
    return this.#isChanged || this.position.inHand.size > this.left.size || this.position.halted.size > 0
  }

  /** Adds a stream in hand to those that are to be delivered, first come, first served. */
  queue(stream: StreamInHand): void {
    const queue = this.position.halted.has(stream.name) ? this.#resumed : this.#fresh
    queue.push(stream)
  }

  /** The next stream to be delivered. @param isActive whether a lane works on a stream of this name */
  next(isActive: (name: string) => boolean): StreamInHand | undefined {
    const isInHand = (stream: StreamInHand) => this.position.isInHand(stream)
    return this.#resumed.take(isInHand, isActive) ?? (this.isFull ? undefined : this.#fresh.take(isInHand, isActive))
  }

  lose(): void {
    this.#isLost = true
    this.#wake()
  }

  /**
   * Begins a delivery as soon as one may begin; `deliveryEnds` ends it.
   *
   * @returns false if the shard is lost or the signal has aborted: nothing is begun
   */
  async beginDelivery(signal: AbortSignal): Promise<boolean> {
    for (;;) {
      if (!this.isHeld || signal.aborted) return false
      if (this.mayDeliver) {
        this.#running += 1
        return true
      }
      await new Promise<void>(resolve => {
        const wake = () => {
          this.#waiters.delete(wake)
          signal.removeEventListener('abort', wake)
          resolve()
        }
        this.#waiters.add(wake)
        signal.addEventListener('abort', wake)
      })
    }
  }

  /** @param moved the position moved on: if the process dies before it is written, the delivery is repeated */
  deliveryEnds(moved: boolean): void {
    this.#running -= 1
    if (moved) {
      this.#delivered += 1
      this.#unwritten += 1
      this.#rate.count(this.#options.timing.monotonicMs())
      this.mustWrite()
      if (this.#unwritten >= WRITE_AFTER) this.#options.writing()
    }
    this.#wake()
  }

  /** Something changed that must not be lost for long. */
  mustWrite(): void {
    this.#isChanged = true
    this.#firstUnwrittenMs ??= this.#options.timing.monotonicMs()
  }

  /** Writes the position if it is due. */
  writeIfDue(): void {
    const nowMs = this.#options.timing.monotonicMs()
    if (nowMs < this.#notBeforeMs) return
    const isDue = this.#isChanged && this.#unwrittenForMs() >= WRITE_AFTER_MS
    if (isDue) this.#options.writing()
    else if (nowMs - this.#lastWriteMs >= (this.#options.writeIdleEveryMs ?? WRITE_IDLE_EVERY_MS)) void this.write()
    // Deliveries that paused because of their age go on by time alone.
    this.#wake()
  }

  /** Writes the position, or waits for the write in progress and one after it. */
  async write(): Promise<void> {
    this.#writing ??= this.#writeOnce().finally(() => {
      this.#writing = undefined
    })
    await this.#writing
  }

  /** Writes everything, for the last time. */
  async writeLast(): Promise<void> {
    await this.#writing
    if (this.isHeld) await this.write()
  }

  async #writeOnce(): Promise<void> {
    if (!this.isHeld) return
    const { timing } = this.#options
    this.#inWriteSinceMs = this.#firstUnwrittenMs
    this.#inWrite = this.#unwritten
    this.#unwritten = 0
    this.#firstUnwrittenMs = undefined
    this.#isChanged = false
    this.#lastWriteMs = timing.monotonicMs()
    const { outcome, trouble } = await this.#put()
    if (outcome === 'written') {
      this.#notBeforeMs = 0
    } else if (outcome === 'lost') {
      // Another process goes on from what was written before.
      this.lose()
    } else {
      this.#unwritten += this.#inWrite
      this.#firstUnwrittenMs = this.#inWriteSinceMs ?? this.#firstUnwrittenMs
      this.#isChanged = true
      this.#notBeforeMs = timing.monotonicMs() + WRITE_AGAIN_MS
    }
    this.#inWrite = 0
    this.#inWriteSinceMs = undefined
    if (outcome !== 'busy') this.#options.wrote(trouble)
    this.#wake()
  }

  async #put(): Promise<{ readonly outcome: 'written' | 'lost' | 'busy' | 'failed'; readonly trouble?: unknown }> {
    try {
      const document = this.position.document(this.#status())
      return { outcome: await this.#options.positions.write(this.number, this.#tenure, document) }
    } catch (trouble) {
      return { outcome: 'failed', trouble }
    }
  }

  #status() {
    const { by, nowMs, timing } = this.#options
    const rate = Math.round(this.#rate.perSecond(timing.monotonicMs()) * 100) / 100
    return { by, host: thisHost(), delivered: this.#delivered, lagMs: this.lagMs, rate, atMs: nowMs() }
  }

  #unwrittenForMs(): number {
    const sinceMs = this.#inWriteSinceMs ?? this.#firstUnwrittenMs
    return sinceMs === undefined ? 0 : this.#options.timing.monotonicMs() - sinceMs
  }

  #wake(): void {
    for (const wake of [...this.#waiters]) wake()
  }
}

/** Streams in order of arrival. Taking one takes no longer however many there are. */
class StreamQueue {
  #streams: StreamInHand[] = []
  #first = 0

  push(stream: StreamInHand): void {
    this.#streams.push(stream)
  }

  /** The first stream in hand that is not active. Active ones are moved to the end, those not in hand dropped. */
  take(isInHand: (stream: StreamInHand) => boolean, isActive: (name: string) => boolean): StreamInHand | undefined {
    for (let left = this.#streams.length - this.#first; left > 0; left--) {
      const stream = this.#streams[this.#first++]
      if (this.#first > 1_000 && this.#first * 2 > this.#streams.length) {
        this.#streams = this.#streams.slice(this.#first)
        this.#first = 0
      }
      if (stream === undefined || !isInHand(stream)) continue
      if (!isActive(stream.name)) return stream
      this.#streams.push(stream)
    }
    return undefined
  }
}

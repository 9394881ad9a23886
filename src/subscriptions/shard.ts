import type { Shards } from '../ops/shards/shards.ts'
import { systemSummary } from '../ops/system-documents.ts'
import { thisHost } from '../ops/transact/transact.ts'
import type { ChangeOutcome, Decision, StreamStore } from '../store/store.ts'
import type { Timing } from '../util/clock.ts'
import { RateMeter } from '../util/rate-meter.ts'
import { parsePosition, positionText, startPositionDocument } from './position/document.ts'
import { ShardPosition, type StreamInHand } from './position/position.ts'

export interface ShardRunOptions {
  readonly shards: Shards
  readonly by: string
  /** Its first transactions if it has no document, epoch ms. */
  readonly fromMs: number
  readonly subscription: string
  readonly timing: Timing
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
/** A position document is read and written up to this size, bytes. */
export const MAX_POSITION_BYTES = 16 * 1024 * 1024
/** Waiting and parked streams, at most: beyond that something is wrong with all of them. */
const MOST_HALTED = 1_000

/** One shard that this process holds: its position, read when the lease was acquired and written under it. */
export class HeldShard {
  readonly number: number
  readonly leaseId: string
  readonly position: ShardPosition
  /** Streams to be delivered, first come, first served. */
  readonly ready: StreamInHand[] = []
  readonly #store: StreamStore
  readonly #options: ShardRunOptions
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
  #lagMs: () => number = () => 0

  private constructor(
    store: StreamStore,
    options: ShardRunOptions,
    held: { readonly number: number; readonly leaseId: string; readonly position: ShardPosition; delivered: number },
  ) {
    this.#store = store
    this.#options = options
    this.number = held.number
    this.leaseId = held.leaseId
    this.position = held.position
    this.#delivered = held.delivered
    this.#lastWriteMs = options.timing.monotonicMs()
    for (const stream of held.position.inHand.values()) this.ready.push(stream)
  }

  /** Reads the position of a shard under its lease. @throws the store's faults and those of `parsePosition` */
  static async read(
    store: StreamStore,
    options: ShardRunOptions,
    number: number,
    leaseId: string,
    signal: AbortSignal,
  ): Promise<HeldShard> {
    const name = options.shards.nameOf(number)
    const stored = await store.read(name, signal)
    const nowMs = store.nowMs()
    const text = stored === undefined ? '' : new TextDecoder().decode(stored.body)
    const document =
      stored === undefined ? startPositionDocument(options.fromMs, nowMs, options.by) : parsePosition(name, text)
    const position = new ShardPosition(document, nowMs)
    return new HeldShard(store, options, { number, leaseId, position, delivered: document.status.delivered })
  }

  /**
   * False once another process may hold it: nothing more is started or written. It stays so if the lease is renewed after
   * all, since streams were left in between: the position is read again.
   */
  get isHeld(): boolean {
    if (!this.#isLost && this.#options.shards.leaseIdOf(this.number) !== this.leaseId) this.lose()
    return !this.#isLost
  }

  get delivered(): number {
    return this.#delivered
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
    if (this.#unwritten + this.#inWrite + this.#running >= MOST_UNWRITTEN) return false
    return this.#unwrittenForMs() < LONGEST_UNWRITTEN_MS
  }

  /** A write now would save one soon. */
  get isWorthWriting(): boolean {
    return this.#unwritten >= 0.7 * WRITE_AFTER || this.#unwrittenForMs() >= 0.7 * WRITE_AFTER_MS
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

  /** @param lagMs computes the age of the oldest transaction that is not handled, when it is written */
  showLag(lagMs: () => number): void {
    this.#lagMs = lagMs
  }

  /** Writes the position if it is due. */
  writeIfDue(): void {
    const nowMs = this.#options.timing.monotonicMs()
    if (nowMs < this.#notBeforeMs) return
    const isDue = this.#isChanged && this.#unwrittenForMs() >= WRITE_AFTER_MS
    if (isDue) this.#options.writing()
    else if (nowMs - this.#lastWriteMs >= WRITE_IDLE_EVERY_MS) void this.write()
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
    const trouble = await this.#put()
    if (trouble === undefined) {
      this.#notBeforeMs = 0
    } else {
      this.#unwritten += this.#inWrite
      this.#firstUnwrittenMs = this.#inWriteSinceMs ?? this.#firstUnwrittenMs
      this.#isChanged = true
      this.#notBeforeMs = timing.monotonicMs() + WRITE_AGAIN_MS
    }
    this.#inWrite = 0
    this.#inWriteSinceMs = undefined
    this.#options.wrote(trouble)
    this.#wake()
  }

  /** @returns why it was not written, or `undefined` */
  async #put(): Promise<unknown> {
    const { by, shards, subscription } = this.#options
    const text = positionText(this.position.document(this.#status()))
    const body = Buffer.from(text)
    const purpose = `subscription ${subscription}, shard ${this.number}`
    const holder = { by, host: thisHost(), pid: process.pid, purpose, sinceMs: this.#store.nowMs() }
    // Called again after a write without an answer: it writes the same once more, under the same lease.
    const decide = (): Decision => ({ kind: 'put', body, summary: systemSummary(this.#store, by) })
    try {
      const outcome = await this.#store.update(shards.nameOf(this.number), decide, {
        leaseId: this.leaseId,
        waitMs: 0,
        holder,
        deadlineMs: 5_000,
      })
      return this.#troubleOf(outcome)
    } catch (error) {
      return error
    }
  }

  #troubleOf(outcome: ChangeOutcome): unknown {
    switch (outcome.kind) {
      case 'committed':
      case 'left':
        return undefined
      case 'unknown':
        return outcome.cause
      case 'missing':
      case 'lost':
      case 'held':
        // Another process goes on from what was written before.
        this.lose()
        return undefined
      default:
        return outcome satisfies never
    }
  }

  #status() {
    const { by, timing } = this.#options
    const rate = Math.round(this.#rate.perSecond(timing.monotonicMs()) * 100) / 100
    const atMs = this.#store.nowMs()
    return { by, host: thisHost(), delivered: this.#delivered, lagMs: this.#lagMs(), rate, atMs }
  }

  #unwrittenForMs(): number {
    const sinceMs = this.#inWriteSinceMs ?? this.#firstUnwrittenMs
    return sinceMs === undefined ? 0 : this.#options.timing.monotonicMs() - sinceMs
  }

  #wake(): void {
    for (const wake of [...this.#waiters]) wake()
  }
}

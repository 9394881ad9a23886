import type { JournalEntry } from '../../ops/read-stream.ts'
import type { Timing } from '../../util/clock.ts'
import { machineTiming } from '../../util/clock.ts'
import type { ExecutedDecision } from '../decision.ts'
import type { MovedStream, PassReport } from '../report.ts'
import { Backlog, type PendingRead, readWithRetry } from './backlog.ts'
import { DeliveryQueue } from './delivery.ts'
import { Dispatch } from './dispatch.ts'
import { eventsIn, type HookEvent, isNews, type Known, mayHaveEvents, noticeOf } from './events.ts'
import { LagMonitor } from './lag.ts'
import type { HookFeed, HookOptions } from './options.ts'
import { type Hold, PassTracker, PendingDeliveries } from './pending.ts'
import { DeliveredIds, HookProgress } from './watermarks.ts'

export type { HookFeed } from './options.ts'

/** Tolerated error of the clocks of foreign writers. */
const FOREIGN_MARGIN_MS = 10 * 60_000
/** Hooks are behind if more streams than this wait. */
const BEHIND = 10_000
/** Number of delivery ids remembered to avoid duplicates. */
const MAX_DELIVERED_IDS = 50_000

/** Delivers at least once: after a crash, the next watchdog repeats deliveries in flight under the same ids. */
export function openHooks(options: HookOptions): HookFeed {
  return new Feed(options)
}

/**
 * Connects passes with hooks: streams with possible events wait in the backlog, are read, and their new events are put
 * into the delivery queue.
 */
class Feed implements HookFeed {
  readonly #options: HookOptions
  readonly #timing: Timing
  readonly #dispatch: Dispatch
  readonly #progress: HookProgress
  readonly #deliveries: DeliveryQueue
  readonly #backlog: Backlog
  readonly #passes = new PassTracker()
  readonly #pendingDeliveries = new PendingDeliveries(this.#passes, () => this.#recordProgress())
  readonly #lag: LagMonitor
  readonly #stop = new AbortController()
  #lastSweepMs: number | undefined
  #drained: Promise<void> | undefined

  constructor(options: HookOptions) {
    const { store, limits = {}, timing = machineTiming, userAgent, onDelivery, shards } = options
    const { queue, atOnce, retryForMs } = limits
    const { signal } = this.#stop
    const nowMs = () => store.nowMs()
    this.#options = options
    this.#timing = timing
    const told = new DeliveredIds(limits.told ?? MAX_DELIVERED_IDS)
    this.#dispatch = new Dispatch(options, told)
    const memories = new Map(this.#dispatch.keys.map(key => [key, options.memory(key)]))
    this.#progress = new HookProgress({ memories, told, timing, nowMs, onTrouble: this.#reportFault, shards, signal })
    this.#deliveries = new DeliveryQueue({ timing, nowMs, userAgent, onDelivery, queue, atOnce, retryForMs })
    this.#backlog = new Backlog(reading => this.#read(reading), limits.waiting)
    this.#lag = new LagMonitor(limits.behind ?? BEHIND, pace => options.onPace?.(pace))
  }

  get pending(): number {
    return this.#pendingDeliveries.pending
  }

  get left(): number {
    return this.#pendingDeliveries.left + this.#pendingDeliveries.pending
  }

  async began(kind: PassReport['kind'], startedMs: number): Promise<void> {
    await this.#progress.ready()
    this.#passes.end(false)
    this.#passes.begin(kind === 'sweep', startedMs)
  }

  async moved(streams: readonly MovedStream[]): Promise<void> {
    await this.#progress.ready()
    const { kinds } = this.#dispatch
    for (const moved of streams) {
      const stream = moved.listed.name
      const sinceMs = this.#progress.earliestMs(stream)
      if (!mayHaveEvents(moved, { kinds, sinceMs, lastSweepMs: this.#lastSweepMs })) continue
      this.#add({ stream, before: moved.before, notices: [] })
    }
  }

  executed({ decision, outcome, version }: ExecutedDecision): void {
    const { stream } = decision
    if (outcome === 'ended') {
      this.#add({ stream, before: version === undefined ? undefined : version - 1, notices: [] })
    } else if (outcome === 'notified' && decision.kind === 'notify' && this.#dispatch.kinds.has('expired')) {
      this.#add({ stream, before: Number.POSITIVE_INFINITY, notices: [decision] })
    }
  }

  passed({ kind, startedMs }: PassReport): void {
    if (kind === 'sweep') this.#lastSweepMs = startedMs
    this.#passes.end(true)
    this.#recordProgress()
  }

  failed(): void {
    this.#passes.end(false)
  }

  shards(held: readonly number[], total: number): void {
    this.#progress.take(held, total)
  }

  async idle(): Promise<void> {
    await this.#pendingDeliveries.idle()
  }

  async drain(limitMs: number): Promise<void> {
    this.#drained ??= this.#drain(limitMs)
    await this.#drained
    // A pass completed meanwhile may have advanced the watermark.
    await this.#progress.flush()
  }

  async #drain(limitMs: number): Promise<void> {
    this.#backlog.close()
    this.#stop.abort()
    this.#pendingDeliveries.end()
    await this.#deliveries.drain(limitMs)
  }

  /** Never waits: observers must not delay a pass. */
  #add(reading: Omit<PendingRead, 'hold'>): void {
    const hold = this.#pendingDeliveries.take()
    const isTaken = this.#backlog.add({ ...reading, hold })
    if (!isTaken) hold.leave()
    if (!isTaken && !this.#stop.signal.aborted) this.#lag.isFull(this.#backlog.size)
    this.#lag.waits(this.#backlog.size)
  }

  /** Reads a stream and queues its new events. Events that cannot be queued any more are left. */
  async #read(reading: PendingRead): Promise<void> {
    this.#lag.waits(this.#backlog.size)
    try {
      if (!(await this.#deliver(reading))) return
    } catch (error) {
      // Reported here, since no caller sees it; one stream must not block all others.
      this.#reportFault(`${reading.stream} cannot be delivered to hooks`, error)
    }
    reading.hold.release()
  }

  /** False if the watchdog stops. */
  async #deliver(reading: PendingRead): Promise<boolean> {
    const { stream, before } = reading
    const patience = { timing: this.#timing, signal: this.#stop.signal, onTrouble: this.#reportFault }
    const read = await readWithRetry(this.#options.store, stream, patience)
    if (read.kind !== 'read') return read.kind === 'nothing'
    for (const hookEvent of this.#eventsOf(read.view, reading)) {
      const wants = (key: string) => isNews(hookEvent, this.#known(before, this.#progress.sinceMs(key, stream)))
      const hold = (key: string) => this.#delivery(reading.hold.also(), key, hookEvent.id)
      if (!(await this.#dispatch.enqueueDeliveries(hookEvent, this.#deliveries, wants, hold))) return false
    }
    return true
  }

  #eventsOf(view: Parameters<typeof eventsIn>[0], { stream, before, notices }: PendingRead): HookEvent[] {
    const { address: store } = this.#options.store
    const sinceMs = this.#progress.earliestMs(stream)
    const news = eventsIn(view, {
      store,
      kinds: this.#dispatch.kinds,
      foreignSinceMs: sinceMs - FOREIGN_MARGIN_MS,
      isNews: ({ version }: JournalEntry, atMs) => isNews({ version, atMs }, this.#known(before, sinceMs)),
    })
    return [...notices.map(notice => noticeOf(view, notice, store)), ...news]
  }

  #known(before: number | undefined, sinceMs: number): Known {
    return { before, sinceMs, lastSweepMs: this.#lastSweepMs }
  }

  /** A delivery belongs to the pass that found it: until it ends, the watermark does not pass that pass. */
  #delivery(hold: Hold, key: string, id: string): (isOver: boolean) => void {
    return isOver => {
      if (!isOver) return hold.leave()
      this.#progress.ended(key, id)
      hold.release()
    }
  }

  #recordProgress(): void {
    const { doneMs } = this.#passes
    if (doneMs !== undefined) this.#progress.reached(doneMs)
  }

  readonly #reportFault = (message: string, error: unknown): void => this.#options.onTrouble?.(message, error)
}

import type { JournalEntry } from '../../ops/read-stream.ts'
import type { Timing } from '../../util/clock.ts'
import { machineTiming } from '../../util/clock.ts'
import type { Carried } from '../decision.ts'
import type { MovedStream, PassReport } from '../report.ts'
import { Backlog, type PendingRead, readWithRetry } from './backlog.ts'
import { DeliveryQueue } from './delivery.ts'
import { Dispatch } from './dispatch.ts'
import { type HookEvent, happeningsIn, isNews, type Known, mayTell, noticeOf } from './events.ts'
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
const TOLD = 50_000

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
  readonly #courier: DeliveryQueue
  readonly #backlog: Backlog
  readonly #rounds = new PassTracker()
  readonly #holds = new PendingDeliveries(this.#rounds, () => this.#note())
  readonly #pace: LagMonitor
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
    const told = new DeliveredIds(limits.told ?? TOLD)
    this.#dispatch = new Dispatch(options, told)
    const memories = new Map(this.#dispatch.keys.map(key => [key, options.memory(key)]))
    this.#progress = new HookProgress({ memories, told, timing, nowMs, onTrouble: this.#trouble, shards, signal })
    this.#courier = new DeliveryQueue({ timing, nowMs, userAgent, onDelivery, queue, atOnce, retryForMs })
    this.#backlog = new Backlog(reading => this.#read(reading), limits.waiting)
    this.#pace = new LagMonitor(limits.behind ?? BEHIND, pace => options.onPace?.(pace))
  }

  get pending(): number {
    return this.#holds.pending
  }

  get left(): number {
    return this.#holds.left + this.#holds.pending
  }

  async began(kind: PassReport['kind'], startedMs: number): Promise<void> {
    await this.#progress.ready()
    this.#rounds.end(false)
    this.#rounds.begin(kind === 'sweep', startedMs)
  }

  async moved(streams: readonly MovedStream[]): Promise<void> {
    await this.#progress.ready()
    const { kinds } = this.#dispatch
    for (const moved of streams) {
      const stream = moved.listed.name
      const sinceMs = this.#progress.earliestMs(stream)
      if (!mayTell(moved, { kinds, sinceMs, lastSweepMs: this.#lastSweepMs })) continue
      this.#add({ stream, before: moved.before, notices: [] })
    }
  }

  carried({ decision, outcome, version }: Carried): void {
    const { stream } = decision
    if (outcome === 'ended') {
      this.#add({ stream, before: version === undefined ? undefined : version - 1, notices: [] })
    } else if (outcome === 'notified' && decision.kind === 'notify' && this.#dispatch.kinds.has('expired')) {
      this.#add({ stream, before: Number.POSITIVE_INFINITY, notices: [decision] })
    }
  }

  passed({ kind, startedMs }: PassReport): void {
    if (kind === 'sweep') this.#lastSweepMs = startedMs
    this.#rounds.end(true)
    this.#note()
  }

  failed(): void {
    this.#rounds.end(false)
  }

  shards(held: readonly number[], total: number): void {
    this.#progress.take(held, total)
  }

  async idle(): Promise<void> {
    await this.#holds.idle()
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
    this.#holds.end()
    await this.#courier.drain(limitMs)
  }

  /** Never waits: observers must not delay a pass. */
  #add(reading: Omit<PendingRead, 'hold'>): void {
    const hold = this.#holds.take()
    const isTaken = this.#backlog.add({ ...reading, hold })
    if (!isTaken) hold.leave()
    if (!isTaken && !this.#stop.signal.aborted) this.#pace.isFull(this.#backlog.size)
    this.#pace.waits(this.#backlog.size)
  }

  /** Reads a stream and queues its new events. Events that cannot be queued any more are left. */
  async #read(reading: PendingRead): Promise<void> {
    this.#pace.waits(this.#backlog.size)
    try {
      if (!(await this.#tell(reading))) return
    } catch (error) {
      // Reported here, since no caller sees it; one stream must not block all others.
      this.#trouble(`${reading.stream} cannot be delivered to hooks`, error)
    }
    reading.hold.release()
  }

  /** False if the watchdog stops. */
  async #tell(reading: PendingRead): Promise<boolean> {
    const { stream, before } = reading
    const patience = { timing: this.#timing, signal: this.#stop.signal, onTrouble: this.#trouble }
    const read = await readWithRetry(this.#options.store, stream, patience)
    if (read.kind !== 'read') return read.kind === 'nothing'
    for (const happening of this.#happenings(read.view, reading)) {
      const wants = (key: string) => isNews(happening, this.#known(before, this.#progress.sinceMs(key, stream)))
      const hold = (key: string) => this.#delivery(reading.hold.also(), key, happening.id)
      if (!(await this.#dispatch.handOn(happening, this.#courier, wants, hold))) return false
    }
    return true
  }

  #happenings(view: Parameters<typeof happeningsIn>[0], { stream, before, notices }: PendingRead): HookEvent[] {
    const { address: store } = this.#options.store
    const sinceMs = this.#progress.earliestMs(stream)
    const news = happeningsIn(view, {
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

  #note(): void {
    const { doneMs } = this.#rounds
    if (doneMs !== undefined) this.#progress.reached(doneMs)
  }

  readonly #trouble = (message: string, error: unknown): void => this.#options.onTrouble?.(message, error)
}

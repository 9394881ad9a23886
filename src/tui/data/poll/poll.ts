import type { Glob } from '../../../ops/glob.ts'
import { StoreUnreachable } from '../../../store/errors.ts'
import type { StreamStore } from '../../../store/store.ts'
import { sleepUntilAborted } from '../../../util/concurrency.ts'
import type { DataStore } from '../store.ts'
import { type Explain, Troubles } from '../store-errors.ts'
import { NO_DEMAND, type VisibleData } from '../types.ts'
import { ActivityLook } from './activity.ts'
import { OpenStreamPoll } from './open-stream.ts'
import { StreamsPoll } from './streams.ts'
import { UnreadLook } from './unread.ts'
import { WatchdogLook } from './watchdog.ts'

export interface PollOptions {
  /** Time between the starts of two polls, ms; longer if the store is slow. */
  readonly intervalMs: number
  /** Only streams with a matching name. */
  readonly match?: Glob
  readonly explain: Explain
  /** Monotonic clock, replaced in tests. */
  readonly clock?: PollClock
}

export interface PollClock {
  nowMs(): number
  /** Resolves after the time or when the signal aborts; does not throw. */
  pause(ms: number, signal: AbortSignal): Promise<void>
}

/**
 * The only reader of the store, at the requested interval and only for visible data: one poll at a time, one listing
 * per poll, documents only when they changed. A store with change tokens is asked for nothing else while its token is
 * unchanged.
 */
export class Poll {
  readonly #store: StreamStore
  readonly #data: DataStore
  readonly #askedMs: number
  readonly #clock: PollClock
  readonly #pace: PollInterval
  readonly #troubles: Troubles
  readonly #streams: StreamsPoll
  readonly #open: OpenStreamPoll
  readonly #unread: UnreadLook
  readonly #activity: ActivityLook
  readonly #watchdog: WatchdogLook
  #demand: VisibleData = NO_DEMAND
  /** The store has had a change token: its file exists. */
  #hadMark = false
  /** When the streams are listed next; infinite during a listing, unless `readNow` asks for another. */
  #listAtMs = Number.NEGATIVE_INFINITY
  /** Another poll is requested at once. */
  #isAsked = false
  #rest: AbortController | undefined

  constructor(store: StreamStore, data: DataStore, { intervalMs, match, explain, clock = MACHINE }: PollOptions) {
    this.#store = store
    this.#data = data
    this.#askedMs = intervalMs
    this.#clock = clock
    this.#pace = new PollInterval(intervalMs)
    this.#troubles = new Troubles(data, explain, () => store.nowMs())
    this.#activity = new ActivityLook(store, data)
    this.#streams = new StreamsPoll(store, data, match, rows => this.#activity.moved(rows))
    this.#open = new OpenStreamPoll(store, data)
    this.#unread = new UnreadLook(store, data, this.#troubles)
    this.#watchdog = new WatchdogLook(store, data)
    data.putFreshness({ intervalMs })
  }

  /** Sets the visible data. Cheap enough for every frame. Newly visible data is read soon. */
  want(demand: VisibleData): void {
    const before = this.#demand
    this.#demand = demand
    if (demand.open !== undefined) this.#data.openStream(demand.open)
    if (!demand.activity) this.#activity.stop()
    this.#unread.want(demand.unread)
    if (isMore(before, demand)) this.#wake()
  }

  /** Polls at once, or once more after the running poll. */
  readNow(): void {
    this.#listAtMs = Number.NEGATIVE_INFINITY
    this.#wake()
  }

  /** Polls until the signal aborts. Store errors are shown as `freshness.trouble`. @throws errors that are bugs */
  async run(signal: AbortSignal): Promise<void> {
    const end = new AbortController()
    const stop = () => {
      end.abort()
      this.#rest?.abort()
    }
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    try {
      await Promise.all([this.#look(end.signal), this.#unread.run(end.signal)])
    } finally {
      signal.removeEventListener('abort', stop)
      stop()
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#isAsked = false
      const startMs = this.#clock.nowMs()
      const waitMs = await this.#lookOnce(startMs, signal)
      if (signal.aborted) return
      if (this.#listAtMs === Number.POSITIVE_INFINITY) this.#listAtMs = startMs + waitMs
      await this.#sleepUntilAborted(startMs + waitMs, signal)
    }
  }

  /** @returns the time from its start to the next one, ms */
  async #lookOnce(startMs: number, signal: AbortSignal): Promise<number> {
    const lookingSinceMs = this.#store.nowMs()
    this.#data.putFreshness({ lookingSinceMs })
    let hasAsked: boolean
    try {
      hasAsked = await this.#lookAt(startMs, signal)
    } catch (error) {
      if (signal.aborted) return 0
      this.#troubles.tell('looks', error)
      this.#data.putFreshness({ lookingSinceMs: undefined })
      return this.#pace.failed()
    }
    if (!hasAsked) {
      this.#data.putFreshness({ lookingSinceMs: undefined })
      return this.#askedMs
    }
    const intervalMs = this.#pace.answered(this.#clock.nowMs() - startMs)
    const isSlow = intervalMs > this.#askedMs
    this.#data.putFreshness({ seenMs: lookingSinceMs, lookingSinceMs: undefined, intervalMs, isSlow })
    this.#troubles.isOver('looks')
    this.#unread.resume()
    return intervalMs
  }

  /**
   * Reads the visible data that is due. The change token is taken first, so that a write during the reads changes it.
   * @returns false if nothing was due: that says nothing about the store
   */
  async #lookAt(startMs: number, signal: AbortSignal): Promise<boolean> {
    const mark = await this.#store.changeToken?.(signal)
    if (mark === undefined && this.#hadMark) throw new StoreUnreachable(`${this.#store.address} no longer exists`)
    this.#hadMark = mark !== undefined
    const { open } = this.#demand
    if (open !== undefined) await this.#open.look(open, mark, signal)
    const lists = this.#demand.streams && this.#listAtMs <= startMs
    if (lists) {
      this.#listAtMs = Number.POSITIVE_INFINITY
      await this.#streams.poll(mark, signal)
    }
    const { watchdog, activity } = this.#demand
    if (watchdog) await this.#watchdog.look(mark, signal)
    if (activity) await this.#activity.look(signal)
    return open !== undefined || lists || watchdog
  }

  async #sleepUntilAborted(untilMs: number, signal: AbortSignal): Promise<void> {
    const atMs = this.#demand.streams ? Math.min(untilMs, this.#listAtMs) : untilMs
    if (this.#isAsked || signal.aborted) return
    this.#rest = new AbortController()
    await this.#clock.pause(Math.max(0, atMs - this.#clock.nowMs()), this.#rest.signal)
    this.#rest = undefined
  }

  #wake(): void {
    this.#isAsked = true
    this.#rest?.abort()
  }
}

const MACHINE: PollClock = { nowMs: () => performance.now(), pause: sleepUntilAborted }

function isMore(before: VisibleData, { streams, open, activity, watchdog }: VisibleData): boolean {
  if (open !== undefined && open !== before.open) return true
  return (streams && !before.streams) || (activity && !before.activity) || (watchdog && !before.watchdog)
}

/** The pause after a poll, as a multiple of its duration: leaves the store to others. */
const SHARE = 4
const LONGEST_MS = 60_000
/** Longest pause after a store error, ms. */
const LONGEST_BACK_OFF_MS = 10_000

/** The time from the start of one poll to the start of the next. */
export class PollInterval {
  readonly #askedMs: number
  #failures = 0

  /** @param askedMs the least interval, ms */
  constructor(askedMs: number) {
    this.#askedMs = askedMs
  }

  /** After a successful poll. @param tookMs its duration */
  answered(tookMs: number): number {
    this.#failures = 0
    return Math.max(this.#askedMs, Math.min(LONGEST_MS, Math.ceil(SHARE * tookMs)))
  }

  /** After a failed poll: doubles each time. */
  failed(): number {
    const waitMs = this.#askedMs * 2 ** Math.min(this.#failures, 20)
    this.#failures++
    return Math.max(this.#askedMs, Math.min(LONGEST_BACK_OFF_MS, waitMs))
  }
}

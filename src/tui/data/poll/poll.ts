import type { Glob } from '../../../ops/glob.ts'
import { StoreUnreachable } from '../../../store/errors.ts'
import type { StreamStore } from '../../../store/store.ts'
import { sleepUntilAborted } from '../../../util/concurrency.ts'
import type { DataStore } from '../store.ts'
import { type Explain, StoreErrors } from '../store-errors.ts'
import { type DataReader, NOTHING_VISIBLE, type VisibleData } from '../types.ts'
import { ActivityPoll } from './activity.ts'
import { FailurePoll } from './failure.ts'
import { InboxesPoll } from './inboxes.ts'
import { PollInterval } from './interval.ts'
import { OpenStreamPoll } from './open-stream.ts'
import { StreamsPoll } from './streams.ts'
import { SubscriptionsPoll } from './subscriptions.ts'
import { UnreadDocuments } from './unread.ts'
import { WatchdogPoll } from './watchdog.ts'
import { WorkersPoll } from './workers.ts'

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
 * unchanged, and for the token twice an interval: the first write after a rest is shown at once.
 */
export class Poll implements DataReader {
  readonly #store: StreamStore
  readonly #data: DataStore
  readonly #intervalMs: number
  readonly #clock: PollClock
  readonly #interval: PollInterval
  readonly #errors: StoreErrors
  readonly #streams: StreamsPoll
  readonly #open: OpenStreamPoll
  readonly #failure: FailurePoll
  readonly #unread: UnreadDocuments
  readonly #activity: ActivityPoll
  readonly #watchdog: WatchdogPoll
  readonly #workers: WorkersPoll
  readonly #subscriptions: SubscriptionsPoll
  readonly #inboxes: InboxesPoll
  #visible: VisibleData = NOTHING_VISIBLE
  /** The change token of the last poll. Once the store has had one, its file exists. */
  #mark: string | undefined
  /** The last poll found nothing written since the one before. */
  #isQuiet = false
  /** When the streams are listed next; infinite during a listing, unless `readNow` asks for another. */
  #listAtMs = Number.NEGATIVE_INFINITY
  /** When the line of health is due; later than the first poll, which the screen waits for. */
  #healthAtMs: number | undefined
  /** Another poll is requested at once. */
  #isWoken = false
  #rest: AbortController | undefined

  constructor(store: StreamStore, data: DataStore, { intervalMs, match, explain, clock = MACHINE }: PollOptions) {
    this.#store = store
    this.#data = data
    this.#intervalMs = intervalMs
    this.#clock = clock
    this.#interval = new PollInterval(intervalMs)
    this.#errors = new StoreErrors(data, explain, () => store.nowMs())
    this.#activity = new ActivityPoll(store, data, () => clock.nowMs())
    this.#streams = new StreamsPoll(store, data, match, rows => this.#activity.addChanged(rows))
    this.#open = new OpenStreamPoll(store, data)
    this.#failure = new FailurePoll(store, data)
    this.#unread = new UnreadDocuments(store, data, this.#errors)
    this.#watchdog = new WatchdogPoll(store, data)
    this.#workers = new WorkersPoll(store, data, () => clock.nowMs())
    this.#subscriptions = new SubscriptionsPoll(store, data, () => clock.nowMs())
    this.#inboxes = new InboxesPoll(store, data, () => clock.nowMs())
    data.putFreshness({ intervalMs })
  }

  /** Sets the visible data. Cheap enough for every frame. Newly visible data is read soon. */
  setVisible(demand: VisibleData): void {
    const before = this.#visible
    this.#visible = demand
    if (demand.open !== undefined) this.#data.openStream(demand.open)
    if (!demand.activity) this.#activity.stop()
    this.#unread.setVisible(demand.unread)
    if (isMore(before, demand)) this.#wake()
  }

  /** Polls at once, or once more after the running poll. */
  readNow(): void {
    this.#listAtMs = Number.NEGATIVE_INFINITY
    this.#wake()
  }

  /** Polls until the signal aborts. Store errors are shown as `freshness.error`. @throws errors that are bugs */
  async run(signal: AbortSignal): Promise<void> {
    const end = new AbortController()
    const stop = () => {
      end.abort()
      this.#rest?.abort()
    }
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    try {
      await Promise.all([this.#pollRepeatedly(end.signal), this.#unread.run(end.signal)])
    } finally {
      signal.removeEventListener('abort', stop)
      stop()
    }
  }

  async #pollRepeatedly(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#isWoken = false
      const startMs = this.#clock.nowMs()
      const waitMs = await this.#pollOnce(startMs, signal)
      if (signal.aborted) return
      if (this.#listAtMs === Number.POSITIVE_INFINITY) this.#listAtMs = startMs + waitMs
      await this.#restUntil(startMs + waitMs, signal)
    }
  }

  /** @returns the time from its start to the next one, ms */
  async #pollOnce(startMs: number, signal: AbortSignal): Promise<number> {
    const polledMs = this.#store.nowMs()
    this.#data.putFreshness({ waitingSinceMs: polledMs })
    let hasAsked: boolean
    try {
      hasAsked = await this.#readVisible(startMs, signal)
    } catch (error) {
      if (signal.aborted) return 0
      this.#errors.report('poll', error)
      this.#data.putFreshness({ waitingSinceMs: undefined })
      const waitMs = this.#interval.failed()
      if (this.#visible.streams && !this.#isWoken) this.#listAtMs = startMs + waitMs
      return waitMs
    }
    if (!hasAsked) {
      this.#data.putFreshness({ waitingSinceMs: undefined })
      return this.#intervalMs
    }
    const intervalMs = this.#interval.answered(this.#clock.nowMs() - startMs)
    const isSlow = this.#interval.isSlow(intervalMs)
    this.#data.putFreshness({ polledMs, waitingSinceMs: undefined, intervalMs, isSlow })
    this.#errors.clear('poll')
    this.#unread.resume()
    return intervalMs
  }

  /**
   * Reads the visible data that is due. The change token is taken first, so that a write during the reads changes it.
   * @returns false if nothing was due: that says nothing about the store
   */
  async #readVisible(startMs: number, signal: AbortSignal): Promise<boolean> {
    this.#isQuiet = false
    const mark = await this.#store.changeToken?.(signal)
    if (mark === undefined && this.#mark !== undefined)
      throw new StoreUnreachable(`${this.#store.address} no longer exists`)
    this.#isQuiet = mark !== undefined && mark === this.#mark
    this.#mark = mark
    const { open } = this.#visible
    if (open !== undefined) await this.#open.poll(open, mark, signal)
    const isHealthDue = this.#isHealthDue(startMs)
    const lists = (this.#visible.streams || isHealthDue) && this.#listAtMs <= startMs
    if (lists) {
      this.#listAtMs = Number.POSITIVE_INFINITY
      await this.#streams.poll(mark, signal)
    }
    const { watchdog, activity, workers, subscriptions, inboxes, failure } = this.#visible
    if (failure !== undefined) await this.#failure.poll(failure, signal)
    if (workers) this.#workers.poll()
    if (watchdog || isHealthDue) await this.#watchdog.poll(mark, signal)
    if (activity) await this.#activity.poll(signal)
    if (subscriptions) await this.#subscriptions.poll(signal)
    if (inboxes) await this.#inboxes.poll(signal)
    return open !== undefined || lists || watchdog || subscriptions || inboxes || isHealthDue
  }

  #isHealthDue(startMs: number): boolean {
    if (!this.#visible.health) return false
    this.#healthAtMs ??= startMs + this.#intervalMs
    if (startMs < this.#healthAtMs) return false
    this.#healthAtMs = startMs + Math.max(HEALTH_MS, this.#intervalMs)
    return true
  }

  async #restUntil(untilMs: number, signal: AbortSignal): Promise<void> {
    const atMs = this.#visible.streams ? Math.min(untilMs, this.#listAtMs) : untilMs
    const leftMs = () => Math.max(0, atMs - this.#clock.nowMs())
    if (this.#isWoken || signal.aborted) return
    const rest = new AbortController()
    this.#rest = rest
    this.#data.putFreshness({ nextPollMs: this.#store.nowMs() + leftMs() })
    if (!this.#isQuiet) await this.#clock.pause(leftMs(), rest.signal)
    while (this.#isQuiet && leftMs() > 0 && !rest.signal.aborted) {
      await this.#clock.pause(Math.min(leftMs(), this.#intervalMs / LOOKS_AT_TOKEN), rest.signal)
      if (await this.#isWritten(signal)) {
        this.#listAtMs = Number.NEGATIVE_INFINITY
        break
      }
    }
    this.#rest = undefined
  }

  /** An error is left to the next poll, which reports it. */
  async #isWritten(signal: AbortSignal): Promise<boolean> {
    try {
      return (await this.#store.changeToken?.(signal)) !== this.#mark
    } catch {
      return true
    }
  }

  #wake(): void {
    this.#isWoken = true
    this.#rest?.abort()
  }
}

const MACHINE: PollClock = { nowMs: () => performance.now(), pause: sleepUntilAborted }

function isMore(before: VisibleData, now: VisibleData): boolean {
  const { open, failure } = now
  if (open !== undefined && open !== before.open) return true
  if (failure !== undefined && failure !== before.failure) return true
  const parts = ['streams', 'activity', 'watchdog', 'workers', 'subscriptions', 'inboxes'] as const
  return parts.some(part => now[part] && !before[part])
}

/** How often a quiet store is asked for its change token in an interval. */
const LOOKS_AT_TOKEN = 2

/** Time between two looks at what the screen itself does not need, ms. */
const HEALTH_MS = 10_000

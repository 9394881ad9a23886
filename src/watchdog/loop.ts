import type { StreamStore } from '../store/store.ts'
import type { Timing } from '../util/clock.ts'
import { machineTiming } from '../util/clock.ts'
import { messageOf } from '../util/errors.ts'
import { codeOf } from './execute.ts'
import type { ObservationTime } from './observation-gaps.ts'
import type { WatchdogOptions } from './options.ts'
import { Pass } from './pass.ts'
import { type FailedPass, PassObservers, type PassReport } from './report.ts'

/** Limits of the jitter between two sweeps: share of the interval, and ms. */
const JITTER = { share: 0.1, mostMs: 1_000 } as const
/** Streams that become due within this time are inspected together, ms. */
const TOGETHER_MS = 250
/** Timers may fire this much too early, ms. */
const TIMER_MS = 2
/** Margin after a deadline, so that no inspection comes a moment too early, ms. */
const AFTER_DUE_MS = 10
/** Limit for the execution of decisions, however many a stream has: other deadlines may expire meanwhile. */
const EXECUTE_MS = 2_000
/** The longest pause after a sweep that took longer than the interval, ms: it leaves the store to others. */
const MOST_REST_MS = 60_000
/** Limits of the interval between ticks, ms; a late tick shows that the process was suspended. */
const TICK_MS = { least: 1_000, most: 5 * 60_000, ofInterval: 1 / 4 } as const

/**
 * Watches until the signal aborts: a sweep each interval, and in between an inspection of each stream with an expired
 * deadline. A failed pass is reported and followed by the next sweep; no fault of the store ends the loop. Operations
 * in flight when the signal aborts are completed.
 */
export async function runWatchdog(store: StreamStore, options: WatchdogOptions, signal: AbortSignal): Promise<void> {
  await new Loop(store, options, signal).run()
}

class Loop {
  readonly #store: StreamStore
  readonly #options: WatchdogOptions
  readonly #signal: AbortSignal
  readonly #timing: Timing
  readonly #observers: PassObservers
  readonly #tickMs: number
  readonly #passes: Pass
  /** Since when passes fail, by the clock of this machine, epoch ms. */
  #failingSinceMs: number | undefined

  constructor(store: StreamStore, options: WatchdogOptions, signal: AbortSignal) {
    const { intervalMs, observers, timing = machineTiming } = options
    this.#store = store
    this.#options = options
    this.#signal = signal
    this.#timing = timing
    this.#observers = new PassObservers(observers)
    this.#tickMs = Math.min(Math.max(intervalMs * TICK_MS.ofInterval, TICK_MS.least), TICK_MS.most)
    const settings = {
      trustsClock: false,
      isDryRun: false,
      timing,
      tickMs: this.#tickMs,
      observers: this.#observers,
      executeMs: EXECUTE_MS,
    }
    this.#passes = new Pass(store, options, settings)
  }

  async run(): Promise<void> {
    const over = new AbortController()
    const ticking = this.#keepTicking(over.signal)
    try {
      await this.#keepPassing()
    } finally {
      over.abort()
      await ticking
    }
  }

  async #keepPassing(): Promise<void> {
    let sweepAtMs = this.#timing.monotonicMs()
    while (!this.#signal.aborted) {
      const startedMs = this.#timing.monotonicMs()
      const kind = startedMs + TIMER_MS >= sweepAtMs ? 'sweep' : 'appointment'
      await this.#pass(kind)
      const nowMs = this.#timing.monotonicMs()
      if (kind === 'sweep') sweepAtMs = this.#nextSweepMs(startedMs, nowMs)
      await this.#timing.pause(Math.min(sweepAtMs - nowMs, this.#untilAppointmentMs()), this.#signal)
    }
  }

  async #keepTicking(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#timing.pause(this.#tickMs, signal)
      this.#passes.ticked()
    }
  }

  async #pass(kind: PassReport['kind']): Promise<void> {
    const started = { nowMs: this.#store.nowMs(), atMs: this.#timing.monotonicMs() }
    try {
      await this.#passes.pass(kind, this.#signal)
      this.#failingSinceMs = undefined
    } catch (error) {
      if (!this.#signal.aborted) await this.#failed(started, error)
    }
  }

  async #failed({ nowMs: startedMs, atMs }: ObservationTime, error: unknown): Promise<void> {
    this.#failingSinceMs ??= this.#timing.wallMs()
    const failure: FailedPass = {
      startedMs,
      tookMs: this.#timing.monotonicMs() - atMs,
      code: codeOf(error),
      message: messageOf(error),
      sinceMs: this.#failingSinceMs,
      error,
    }
    await this.#observers.notify(observer => observer.failed?.(failure))
  }

  /** After a slow listing the store gets half that time for others; not after a suspension of the process. */
  #nextSweepMs(startedMs: number, nowMs: number): number {
    const { intervalMs } = this.#options
    const jitterMs = this.#timing.random() * Math.min(intervalMs * JITTER.share, JITTER.mostMs)
    const restMs = Math.min((nowMs - startedMs) / 2, MOST_REST_MS)
    return Math.max(startedMs + intervalMs + jitterMs, nowMs + restMs)
  }

  /** After a failed pass the store is contacted only by the next sweep. */
  #untilAppointmentMs(): number {
    if (this.#failingSinceMs !== undefined) return Number.POSITIVE_INFINITY
    return Math.max(this.#passes.nextInspectionMs() + AFTER_DUE_MS - this.#store.nowMs(), TOGETHER_MS)
  }
}

import type { EventStore } from '../store/store.ts'
import { LeasectlError } from '../stream/errors.ts'
import { blindnessBetween, type Moment } from './blind-spots.ts'
import type { Timing, WatchdogOptions } from './options.ts'
import type { FailedPass, Observer, PassReport } from './report.ts'
import { machineTiming } from './timing.ts'
import { Watch } from './watch.ts'

/** At most so much is added by chance to the time between two sweeps: the share of it, and ms. */
const JITTER = { share: 0.1, mostMs: 1_000 } as const
/** Streams that fall due one shortly after the other are looked at together, ms. */
const TOGETHER_MS = 250
/** Timers may end so much too early, ms. */
const TIMER_MS = 2
/** A due time is not met a moment too early, ms. */
const AFTER_DUE_MS = 10

/**
 * Watches until the signal aborts: a sweep each interval, and between two of them a look at each stream whose limit ends.
 * A pass that fails is told and followed by the next sweep; nothing that is wrong with the store ends the loop. What is in
 * flight when the signal aborts goes on to its end.
 */
export async function runWatchdog(store: EventStore, options: WatchdogOptions, signal: AbortSignal): Promise<void> {
  await new Loop(store, options, signal).run()
}

class Loop {
  readonly #store: EventStore
  readonly #options: WatchdogOptions
  readonly #signal: AbortSignal
  readonly #timing: Timing
  readonly #watch: Watch
  #lastGood: Moment | undefined
  /** Since when passes fail, by the clock of the machine, epoch ms. */
  #failingSinceMs: number | undefined

  constructor(store: EventStore, options: WatchdogOptions, signal: AbortSignal) {
    this.#store = store
    this.#options = options
    this.#signal = signal
    this.#timing = options.timing ?? machineTiming
    this.#watch = new Watch(store, options, { trustsClock: false, isDryRun: false, timing: this.#timing })
  }

  async run(): Promise<void> {
    let sweepAtMs = this.#timing.monotonicMs()
    while (!this.#signal.aborted) {
      const startedMs = this.#timing.monotonicMs()
      const kind = startedMs + TIMER_MS >= sweepAtMs ? 'sweep' : 'appointment'
      await this.#pass(kind)
      const nowMs = this.#timing.monotonicMs()
      // a listing that takes long leaves the store as much time for others
      if (kind === 'sweep') sweepAtMs = Math.max(startedMs + this.#intervalMs(), nowMs + (nowMs - startedMs) / 2)
      await this.#timing.pause(Math.min(sweepAtMs - nowMs, this.#untilAppointmentMs()), this.#signal)
    }
  }

  async #pass(kind: PassReport['kind']): Promise<void> {
    const started = { nowMs: this.#store.nowMs(), atMs: this.#timing.monotonicMs() }
    try {
      await this.#noticeBlindness(started)
      await this.#watch.pass(kind, this.#signal)
      this.#lastGood = started
      this.#failingSinceMs = undefined
    } catch (error) {
      if (!this.#signal.aborted) await this.#failed(started, error)
    }
  }

  async #noticeBlindness(now: Moment): Promise<void> {
    if (this.#lastGood === undefined) return
    const hadFailures = this.#failingSinceMs !== undefined
    const { intervalMs } = this.#options
    const blindness = blindnessBetween(this.#lastGood, now, { intervalMs, hadFailures })
    if (blindness === undefined) return
    this.#watch.wasBlind(blindness, now.atMs)
    const { fromMs, toMs, why } = blindness
    await this.#tell(observer => observer.blind?.(fromMs, toMs, why))
  }

  async #failed({ nowMs: startedMs, atMs }: Moment, error: unknown): Promise<void> {
    this.#failingSinceMs ??= this.#timing.wallMs()
    const failure: FailedPass = {
      startedMs,
      tookMs: this.#timing.monotonicMs() - atMs,
      code: error instanceof LeasectlError ? error.code : 'unexpected',
      message: error instanceof Error ? error.message : String(error),
      sinceMs: this.#failingSinceMs,
      error,
    }
    await this.#tell(observer => observer.failed?.(failure))
  }

  #intervalMs(): number {
    const { intervalMs } = this.#options
    return intervalMs + this.#timing.random() * Math.min(intervalMs * JITTER.share, JITTER.mostMs)
  }

  /** A store that does not answer is asked again at the next sweep only. */
  #untilAppointmentMs(): number {
    if (this.#failingSinceMs !== undefined) return Number.POSITIVE_INFINITY
    return Math.max(this.#watch.soonestLookMs() + AFTER_DUE_MS - this.#store.nowMs(), TOGETHER_MS)
  }

  async #tell(what: (observer: Observer) => void | Promise<void>): Promise<void> {
    for (const observer of this.#options.observers) await what(observer)
  }
}

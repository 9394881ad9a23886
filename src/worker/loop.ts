import { StoreClosed, StoreUnreachable } from '../store/errors.ts'
import type { StreamStore } from '../store/store.ts'
import { machineTiming, type WorkerTiming } from '../util/clock.ts'
import { NO_LONGER } from '../util/concurrency.ts'
import { Finder, type FoundEvent } from './finder.ts'
import { PollBackoff } from './poll-backoff.ts'
import { EventRunner, OutageReporter, WorkerCounters } from './runner.ts'
import type { LoopOptions, LoopReport, Work } from './types.ts'

/** Loop options with a clock and randomness for tests. */
export type TimedLoopOptions = LoopOptions & { readonly timing?: WorkerTiming }

/**
 * Works on events of the given names in all streams of the store: finds an event that is ready or whose claim expired, claims
 * it, runs `work`, reports the result, and repeats, until the loop is drained or stopped or, with `until`, nothing is left.
 * Streams take turns, of at most a second if others wait. A failure of one event does not end the loop.
 *
 * @throws the store's faults in the first scan (no rights, no container), but not an outage; with `until`, faults in later
 * scans too, and an outage in the first
 */
export async function workLoop(store: StreamStore, options: TimedLoopOptions, work: Work): Promise<LoopReport> {
  return new Loop(store, options, work).run()
}

class Loop {
  readonly #store: StreamStore
  readonly #options: TimedLoopOptions
  readonly #timing: WorkerTiming
  readonly #finder: Finder
  readonly #runner: EventRunner
  readonly #backoff: PollBackoff
  readonly #outages: OutageReporter
  readonly #counters = new WorkerCounters()
  /** Aborts when the loop must not claim anything more. */
  readonly #over: AbortSignal
  /** Events in progress: being claimed, worked on or reported. */
  readonly #running = new Set<Promise<void>>()
  readonly #concurrency: number
  /** Free slots for work. An event whose result is being reported does not occupy one. */
  #slots: number
  #wake = new AbortController()
  #hasScanned = false

  constructor(store: StreamStore, options: TimedLoopOptions, work: Work) {
    const { timing = machineTiming, drain, signal, until, concurrency = 1, observe = () => {} } = options
    this.#store = store
    this.#options = options
    this.#timing = timing
    this.#over = AbortSignal.any([drain, signal].filter(given => given !== undefined))
    this.#outages = new OutageReporter(observe)
    this.#finder = new Finder(store, options, timing, {
      answered: () => this.#outages.answered('find'),
      unreadable: (stream, error) => {
        this.#counters.fault()
        observe({ kind: 'fault', stream, error })
      },
    })
    this.#backoff = new PollBackoff(store, options.maxIdleMs, timing)
    this.#concurrency = until === 'once' ? 1 : concurrency
    this.#slots = this.#concurrency
    const context = { finder: this.#finder, counters: this.#counters, outages: this.#outages, backoff: this.#backoff }
    this.#runner = new EventRunner(store, options, work, { ...context, timing, observe, over: this.#over })
  }

  async run(): Promise<LoopReport> {
    const wake = () => this.#wake.abort(NO_LONGER)
    this.#over.addEventListener('abort', wake)
    try {
      while (!this.#over.aborted && !(await this.#step()));
    } finally {
      this.#over.removeEventListener('abort', wake)
      await Promise.all(this.#running)
    }
    return { ...this.#counters.counts, locked: this.#finder.locked }
  }

  /** @returns whether the loop has reached its end */
  async #step(): Promise<boolean> {
    const { until } = this.#options
    this.#wake = new AbortController()
    if (until === 'once' && this.#runner.started > 0) return true
    // The second limit keeps slow reports from piling up.
    if (this.#slots <= 0 || this.#running.size >= 2 * this.#concurrency) {
      await this.#rest(Number.POSITIVE_INFINITY)
      return false
    }
    const setbackMs = this.#backoff.setbackMs()
    if (setbackMs > 0) {
      await this.#rest(setbackMs)
      return false
    }
    const found = await this.#find()
    if (found === undefined) await this.#rest(this.#backoff.outageMs())
    else if (found.kind === 'found') this.#begin(found)
    else if (until !== undefined && !found.isWaiting && this.#running.size === 0) return true
    else {
      await this.#rest(this.#backoff.pauseMs(found.againMs - this.#store.nowMs()))
      if (!this.#wake.signal.aborted) this.#backoff.paused()
    }
    return false
  }

  /** `undefined`: the store did not answer, or with a fault that is not thrown. @throws a fault, see `workLoop` */
  async #find(): Promise<FoundEvent | undefined> {
    try {
      const found = await this.#finder.next(this.#over)
      this.#hasScanned = true
      this.#backoff.answered()
      return found
    } catch (error) {
      if (this.#over.aborted) return undefined
      if (error instanceof StoreClosed) throw error
      const isSilent = error instanceof StoreUnreachable
      const isToEnd = this.#options.until !== undefined
      if (this.#hasScanned ? isToEnd && !isSilent : isToEnd || !isSilent) throw error
      this.#outages.failed('find', error)
      return undefined
    }
  }

  #begin(found: Extract<FoundEvent, { kind: 'found' }>): void {
    this.#backoff.reset()
    this.#slots -= 1
    let hasSlot = true
    const leave = () => {
      if (hasSlot) this.#slots += 1
      hasSlot = false
      this.#wake.abort(NO_LONGER)
    }
    const attempt = this.#runner.run(found, leave).finally(() => {
      this.#running.delete(attempt)
      leave()
    })
    this.#running.add(attempt)
  }

  async #rest(ms: number): Promise<void> {
    if (!this.#over.aborted) await this.#timing.pause(ms, this.#wake.signal)
  }
}

import { StoreUnreachable } from '../store/errors.ts'
import type { StreamStore } from '../store/store.ts'
import { machineTiming, type WorkerTiming } from '../util/clock.ts'
import { Finder, type FoundEvent } from './finder.ts'
import { PollBackoff } from './poll-backoff.ts'
import { EventRunner, OutageReporter, WorkerCounters } from './runner.ts'
import type { LoopOptions, LoopReport, Work } from './types.ts'

/** With time and chance of its own, for tests. */
export type TimedLoopOptions = LoopOptions & { readonly timing?: WorkerTiming }

/**
 * Works on events of some names, wherever in the store they are: finds one that is ready or whose claim ran out, claims it,
 * runs `work`, reports, and looks for the next, until it is drained or stopped, or there is nothing left where that is asked
 * for. Streams take turns. What goes wrong with one event ends the loop for no other.
 *
 * @throws the store's faults at the first look: no rights, no container; where the loop is to end by itself those at a later
 * one too, and an outage at the first
 */
export async function workLoop(store: StreamStore, options: TimedLoopOptions, work: Work): Promise<LoopReport> {
  return new Loop(store, options, work).run()
}

class Loop {
  readonly #store: StreamStore
  readonly #options: TimedLoopOptions
  readonly #timing: WorkerTiming
  readonly #finder: Finder
  readonly #attempts: EventRunner
  readonly #idle: PollBackoff
  readonly #contact: OutageReporter
  readonly #tally = new WorkerCounters()
  /** Aborts when nothing more is to be claimed. */
  readonly #over: AbortSignal
  /** Of events whose claim, work or report goes on. */
  readonly #underWay = new Set<Promise<void>>()
  readonly #concurrency: number
  /** How many more may be worked on now. An event that is only reported takes up none. */
  #places: number
  #wake = new AbortController()
  #hasLooked = false

  constructor(store: StreamStore, options: TimedLoopOptions, work: Work) {
    const { timing = machineTiming, drain, signal, until, concurrency = 1, observe = () => {} } = options
    this.#store = store
    this.#options = options
    this.#timing = timing
    this.#over = AbortSignal.any([drain, signal].filter(given => given !== undefined))
    this.#contact = new OutageReporter(observe)
    this.#finder = new Finder(store, options, timing, {
      answered: () => this.#contact.answered('look'),
      unreadable: (stream, error) => {
        this.#tally.fault()
        observe({ kind: 'fault', stream, error })
      },
    })
    this.#idle = new PollBackoff(store, options.maxIdleMs, timing)
    this.#concurrency = until === 'once' ? 1 : concurrency
    this.#places = this.#concurrency
    const surroundings = { finder: this.#finder, tally: this.#tally, contact: this.#contact, idle: this.#idle }
    this.#attempts = new EventRunner(store, options, work, { ...surroundings, timing, observe, over: this.#over })
  }

  async run(): Promise<LoopReport> {
    const wake = () => this.#wake.abort()
    this.#over.addEventListener('abort', wake)
    try {
      while (!this.#over.aborted && !(await this.#step()));
    } finally {
      this.#over.removeEventListener('abort', wake)
      await Promise.all(this.#underWay)
    }
    return { ...this.#tally.counts, locked: this.#finder.locked }
  }

  /** @returns whether the loop has reached its end */
  async #step(): Promise<boolean> {
    const { until } = this.#options
    this.#wake = new AbortController()
    if (until === 'once' && this.#attempts.begun > 0) return true
    // Reports that take long do not pile up either.
    if (this.#places <= 0 || this.#underWay.size >= 2 * this.#concurrency) {
      await this.#rest(Number.POSITIVE_INFINITY)
      return false
    }
    const setbackMs = this.#idle.setbackMs()
    if (setbackMs > 0) {
      await this.#rest(setbackMs)
      return false
    }
    const found = await this.#look()
    if (found === undefined) await this.#rest(this.#idle.silentMs())
    else if (found.kind === 'found') this.#begin(found)
    else if (until !== undefined && !found.isWaiting && this.#underWay.size === 0) return true
    else await this.#rest(this.#idle.pauseMs(found.againMs - this.#store.nowMs()))
    return false
  }

  /** `undefined`: there was no answer, or none that is of use. @throws a fault, see `workLoop` */
  async #look(): Promise<FoundEvent | undefined> {
    try {
      const found = await this.#finder.next(this.#over)
      this.#hasLooked = true
      this.#idle.answered()
      return found
    } catch (error) {
      if (this.#over.aborted) return undefined
      const isSilent = error instanceof StoreUnreachable
      const isToEnd = this.#options.until !== undefined
      if (this.#hasLooked ? isToEnd && !isSilent : isToEnd || !isSilent) throw error
      this.#contact.failed('look', error)
      return undefined
    }
  }

  #begin(found: Extract<FoundEvent, { kind: 'found' }>): void {
    this.#idle.reset()
    this.#places -= 1
    let isPlaced = true
    const leave = () => {
      if (isPlaced) this.#places += 1
      isPlaced = false
      this.#wake.abort()
    }
    const attempt = this.#attempts.run(found, leave).finally(() => {
      this.#underWay.delete(attempt)
      leave()
    })
    this.#underWay.add(attempt)
  }

  async #rest(ms: number): Promise<void> {
    if (!this.#over.aborted) await this.#timing.pause(ms, this.#wake.signal)
  }
}

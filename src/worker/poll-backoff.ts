import { unansweredDelay } from '../store/backoff.ts'
import type { StreamStore } from '../store/store.ts'
import type { Timing } from '../util/clock.ts'

/** Limits of the polling interval, ms: `cheap` for stores with a change token, which are polled more often. */
const PAUSES = { cheap: { firstMs: 50, mostMs: 2_000 }, dear: { firstMs: 250, mostMs: 10_000 } } as const
/** Random delay after the end of a claim, ms, so that workers that wait for it do not all come at once. */
const SPREAD_MS = 250

/** Pause after consecutive setbacks, ms: jitter between a quarter and the whole of a cap that doubles. */
const SETBACK = { firstMs: 200, mostMs: 30_000 } as const

/** Pauses of a loop: without work, after setbacks, and in an outage. */
export class PollBackoff {
  readonly #timing: Timing
  readonly #firstMs: number
  readonly #mostMs: number
  #empty = 0
  #unanswered = 0
  #setbacks = 0
  #goesOnAtMs = Number.NEGATIVE_INFINITY

  constructor(store: StreamStore, maxIdleMs: number | undefined, timing: Timing) {
    const { firstMs, mostMs } = store.changeToken === undefined ? PAUSES.dear : PAUSES.cheap
    this.#timing = timing
    this.#mostMs = maxIdleMs ?? mostMs
    this.#firstMs = Math.min(firstMs, this.#mostMs)
  }

  /** An event was found. */
  reset(): void {
    this.#empty = 0
  }

  answered(): void {
    this.#unanswered = 0
  }

  /** Pause without work: full jitter below a cap, but at most until `dueInMs` from now, plus the spread. */
  pauseMs(dueInMs: number): number {
    const capMs = Math.min(this.#mostMs, this.#firstMs * 2 ** Math.min(this.#empty, 30))
    const restMs = this.#timing.random() * capMs
    const spreadMs = this.#timing.random() * Math.min(SPREAD_MS, this.#mostMs)
    return Math.max(1, Math.min(restMs, Math.max(0, dueInMs) + spreadMs))
  }

  /** A whole pause has passed: the cap doubles. One that the end of an attempt cuts short says nothing about the store. */
  paused(): void {
    this.#empty += 1
  }

  /** An event was released or had a fault. If all events are like that, the pause keeps journals and logs from filling up. */
  setback(): void {
    const capMs = Math.min(SETBACK.mostMs, SETBACK.firstMs * 2 ** Math.min(this.#setbacks++, 30))
    this.#goesOnAtMs = this.#timing.monotonicMs() + capMs * (0.25 + 0.75 * this.#timing.random())
  }

  /** The work on an event had a result. */
  success(): void {
    this.#setbacks = 0
    this.#goesOnAtMs = Number.NEGATIVE_INFINITY
  }

  /** Pause after setbacks before the next event, ms; 0 or less: none. */
  setbackMs(): number {
    return Math.ceil(this.#goesOnAtMs - this.#timing.monotonicMs())
  }

  /** Pause before the next attempt in an outage, ms. */
  outageMs(): number {
    return unansweredDelay(Math.min(this.#unanswered++, 10), undefined, this.#timing.random)
  }
}

import { unansweredDelay } from '../store/backoff.ts'
import type { StreamStore } from '../store/store.ts'
import type { Timing } from '../util/clock.ts'

/** Where the store tells for little that nothing was written, it is asked more often, ms. */
const PAUSES = { cheap: { firstMs: 50, mostMs: 2_000 }, dear: { firstMs: 250, mostMs: 10_000 } } as const
/** Workers that wait for the same claim to run out do not all come at once: so much later by chance, ms. */
const SPREAD_MS = 250

/** The pause after setbacks in a row, ms: full jitter above a quarter of a cap that doubles. */
const SETBACK = { firstMs: 200, mostMs: 30_000 } as const

/** How long a loop waits when there is nothing to do, nothing can be done, or nobody answers. */
export class PollBackoff {
  readonly #timing: Timing
  readonly #firstMs: number
  readonly #mostMs: number
  #empty = 0
  #silent = 0
  #setbacks = 0
  #goesOnAtMs = Number.NEGATIVE_INFINITY

  constructor(store: StreamStore, maxIdleMs: number | undefined, timing: Timing) {
    const { firstMs, mostMs } = store.changeToken === undefined ? PAUSES.dear : PAUSES.cheap
    this.#timing = timing
    this.#mostMs = maxIdleMs ?? mostMs
    this.#firstMs = Math.min(firstMs, this.#mostMs)
  }

  /** There was something to do. */
  reset(): void {
    this.#empty = 0
  }

  answered(): void {
    this.#silent = 0
  }

  /** Full jitter under a cap that doubles; no longer than until something is due, ms from now. */
  pauseMs(dueInMs: number): number {
    const capMs = Math.min(this.#mostMs, this.#firstMs * 2 ** Math.min(this.#empty++, 30))
    const restMs = this.#timing.random() * capMs
    const spreadMs = this.#timing.random() * Math.min(SPREAD_MS, this.#mostMs)
    return Math.max(1, Math.min(restMs, Math.max(0, dueInMs) + spreadMs))
  }

  /** An event was handed back or is at fault. One after the other, all may be so: that must not fill journals and logs. */
  setback(): void {
    const capMs = Math.min(SETBACK.mostMs, SETBACK.firstMs * 2 ** Math.min(this.#setbacks++, 30))
    this.#goesOnAtMs = this.#timing.monotonicMs() + capMs * (0.25 + 0.75 * this.#timing.random())
  }

  /** An event was worked on to its end. */
  success(): void {
    this.#setbacks = 0
    this.#goesOnAtMs = Number.NEGATIVE_INFINITY
  }

  /** Until the next event may be begun after setbacks; at most 0: now. */
  setbackMs(): number {
    return Math.ceil(this.#goesOnAtMs - this.#timing.monotonicMs())
  }

  /** Before an outage is looked at again. */
  silentMs(): number {
    return unansweredDelay(Math.min(this.#silent++, 10), undefined, this.#timing.random)
  }
}

import { silenceDelay } from '../store/backoff.ts'
import type { EventStore } from '../store/store.ts'
import type { Timing } from './timing.ts'

/** Where the store tells for little that nothing was written, it is asked more often, ms. */
const PAUSES = { cheap: { firstMs: 50, mostMs: 2_000 }, dear: { firstMs: 250, mostMs: 10_000 } } as const
/** Workers that wait for the same claim to run out do not all come at once: so much later by chance, ms. */
const SPREAD_MS = 250

/** How long a loop waits when there is nothing to do, or nobody answers. */
export class Idle {
  readonly #timing: Timing
  readonly #firstMs: number
  readonly #mostMs: number
  #empty = 0
  #silent = 0

  constructor(store: EventStore, maxIdleMs: number | undefined, timing: Timing) {
    const { firstMs, mostMs } = store.changeMark === undefined ? PAUSES.dear : PAUSES.cheap
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

  /** Before an outage is looked at again. */
  silentMs(): number {
    return silenceDelay(Math.min(this.#silent++, 10), undefined, this.#timing.random)
  }
}

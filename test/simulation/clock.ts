import type { Scheduler } from './scheduler.ts'

/** How a clock lies. */
export interface ClockFault {
  /** How far it is ahead from the beginning, ms. */
  readonly offsetMs?: number
  /** How many of its ms pass in one that is true. */
  readonly rate?: number
  /** It is set, as by an operator: by so many ms at that true time, epoch ms. */
  readonly jumps?: readonly { readonly atMs: number; readonly byMs: number }[]
}

/** A clock that shows something near the true time. */
export class Clock {
  readonly #scheduler: Scheduler
  readonly #startMs: number
  readonly rate: number
  readonly #offsetMs: number
  readonly #jumps: NonNullable<ClockFault['jumps']>

  constructor(scheduler: Scheduler, { offsetMs = 0, rate = 1, jumps = [] }: ClockFault = {}) {
    this.#scheduler = scheduler
    this.#startMs = scheduler.nowMs
    this.rate = rate
    this.#offsetMs = offsetMs
    this.#jumps = jumps
  }

  /** Epoch ms as it shows it. */
  readonly nowMs = (): number => this.atTrue(this.#scheduler.nowMs)

  /** The same at another true time. */
  atTrue(trueMs: number): number {
    let ms = this.#startMs + (trueMs - this.#startMs) * this.rate + this.#offsetMs
    for (const { atMs, byMs } of this.#jumps) if (atMs <= trueMs) ms += byMs
    return Math.round(ms)
  }

  /** A machine's clock that only goes forward: it runs as fast, and nobody sets it. */
  readonly monotonicMs = (): number => (this.#scheduler.nowMs - this.#startMs) * this.rate
}

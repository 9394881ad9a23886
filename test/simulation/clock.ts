import type { Scheduler } from './scheduler.ts'

/** The error of a clock. */
export interface ClockFault {
  /** Its offset at the beginning, ms. */
  readonly offsetMs?: number
  /** Its rate: its ms per true ms. */
  readonly rate?: number
  /** It is set, as by an operator: by this many ms at that true time, epoch ms. */
  readonly jumps?: readonly { readonly atMs: number; readonly byMs: number }[]
}

/** A clock with an error. */
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

  /** Its displayed time, epoch ms. */
  readonly nowMs = (): number => this.atTrue(this.#scheduler.nowMs)

  /** The same at another true time. */
  atTrue(trueMs: number): number {
    let ms = this.#startMs + (trueMs - this.#startMs) * this.rate + this.#offsetMs
    for (const { atMs, byMs } of this.#jumps) if (atMs <= trueMs) ms += byMs
    return Math.round(ms)
  }

  /** A machine's monotonic clock: it runs at the same rate and cannot be set. */
  readonly monotonicMs = (): number => (this.#scheduler.nowMs - this.#startMs) * this.rate
}

import type { Timing } from '../../util/clock.ts'

/** Latency that never counts as rising, ms. */
const QUIET_MS = 250
/** Latency rises if it is so many times that of better days. */
const RISES = 3

/**
 * How many records are worked on at a time: a store that refuses, or answers ever more slowly, halves the number; each
 * round of successes adds one.
 */
export class ConcurrencyLimit {
  readonly #most: number
  readonly #timing: Timing
  readonly #waiting: (() => void)[] = []
  #limit: number
  #running = 0
  /** Of the present round: as many records as run at a time. */
  #ended = 0
  #totalMs = 0
  #bestMs = Number.POSITIVE_INFINITY
  #halvedMs = Number.NEGATIVE_INFINITY

  constructor(most: number, timing: Timing) {
    this.#most = most
    this.#limit = Math.min(most, 8)
    this.#timing = timing
  }

  /** The number now. */
  get limit(): number {
    return this.#limit
  }

  get running(): number {
    return this.#running
  }

  /** Waits for a place, which `leave` gives back. */
  enter(): Promise<void> | undefined {
    if (this.#running < this.#limit) {
      this.#running += 1
      return undefined
    }
    return new Promise(resolve => this.#waiting.push(resolve))
  }

  /**
   * @param outcome `overload`: the store refused or did not answer; `again`: it says nothing about the store, as when another holds
   * the stream
   */
  leave(startedMs: number, outcome: 'done' | 'again' | 'overload'): void {
    this.#running -= 1
    const nowMs = this.#timing.monotonicMs()
    if (outcome === 'done') this.#count(nowMs - startedMs, nowMs)
    // What was begun before the last halving says nothing new.
    else if (outcome === 'overload' && startedMs >= this.#halvedMs) this.#halve(nowMs)
    this.#admit()
  }

  #count(tookMs: number, nowMs: number): void {
    this.#ended += 1
    this.#totalMs += tookMs
    if (this.#ended < this.#limit) return
    const meanMs = this.#totalMs / this.#ended
    this.#startRound()
    // It follows a store that became slower for good, within some hundred rounds.
    this.#bestMs = Math.min(this.#bestMs * 1.01, meanMs)
    if (meanMs > QUIET_MS && meanMs > RISES * this.#bestMs) this.#halve(nowMs)
    else this.#limit = Math.min(this.#most, this.#limit + Math.max(1, this.#limit >> 3))
  }

  #halve(nowMs: number): void {
    this.#limit = Math.max(1, this.#limit >> 1)
    this.#halvedMs = nowMs
    this.#startRound()
  }

  #startRound(): void {
    this.#ended = 0
    this.#totalMs = 0
  }

  #admit(): void {
    while (this.#running < this.#limit) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      this.#running += 1
      next()
    }
  }
}

/** At most so many records a second, evenly; a pause is made up for up to a tenth of a second. */
export class RateLimit {
  readonly #everyMs: number
  readonly #timing: Timing
  #nextMs = Number.NEGATIVE_INFINITY

  constructor(perSecond: number, timing: Timing) {
    this.#everyMs = 1_000 / perSecond
    this.#timing = timing
  }

  /** Waits for the turn of one record; resolves early when the signal aborts. */
  async turn(signal: AbortSignal): Promise<void> {
    const nowMs = this.#timing.monotonicMs()
    const atMs = Math.max(this.#nextMs, nowMs - 100)
    this.#nextMs = atMs + this.#everyMs
    if (atMs - nowMs >= 1) await this.#timing.pause(atMs - nowMs, signal)
  }
}

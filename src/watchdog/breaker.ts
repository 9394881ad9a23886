import type { BreakerState } from './report.ts'

/** So many events a pass may always end. */
const ALWAYS_ALLOWED = 50

/**
 * Stops a pass that would end too much at once: more than both 50 events and a share of the open ones. So many silent
 * workers at a time are rather a fault of clocks, network or settings than of the workers. What was ended within the last
 * interval counts as well, and what was held back, or small passes in a row would get past it. It is judged anew with each
 * pass. A share of 1 allows everything.
 */
export class Breaker {
  readonly #maxShare: number
  readonly #intervalMs: number
  #ended: { readonly atMs: number; readonly events: number }[] = []

  constructor({ maxShare, intervalMs }: { readonly maxShare: number; readonly intervalMs: number }) {
    this.#maxShare = maxShare
    this.#intervalMs = intervalMs
  }

  /**
   * @param planned events that the pass would end, and those that were held back before
   * @param openEvents open events now
   * @param atMs of a clock that only goes forward
   */
  judge(planned: number, openEvents: number, atMs: number): BreakerState {
    const recent = this.#recent(atMs)
    const wouldEnd = planned + recent
    const before = openEvents + recent
    const isTooMuch = wouldEnd > ALWAYS_ALLOWED && wouldEnd > this.#maxShare * before
    const isOpen = planned > 0 && isTooMuch && this.#maxShare < 1
    return { isOpen, wouldEnd, openEvents: before, maxShare: this.#maxShare }
  }

  ended(events: number, atMs: number): void {
    this.#ended.push({ atMs, events })
  }

  #recent(atMs: number): number {
    this.#ended = this.#ended.filter(ended => atMs - ended.atMs < this.#intervalMs)
    return this.#ended.reduce((sum, { events }) => sum + events, 0)
  }
}

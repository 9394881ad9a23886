import type { BreakerState } from './report.ts'

/** A pass may always end this number of events. */
const ALWAYS_ALLOWED = 50

/**
 * Circuit breaker: stops a pass that would end more than 50 events and more than a share of the open ones. If that many
 * workers fall silent at once, the cause is probably a fault of clocks, network or settings, not the workers. Events
 * ended within the last interval and events held back count too; otherwise a series of small passes could evade the
 * limit. Each pass is judged independently. A share of 1 disables the breaker.
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
   * @param planned events that the pass would end, including those held back before
   * @param openEvents number of open events now
   * @param atMs monotonic clock
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

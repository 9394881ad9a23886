import type { Attempt } from './attempt.ts'
import type { HookTarget } from './target.ts'

/** For how long what fails is tried again: a delivery, and a target to which nothing gets through. Times are monotonic, ms. */
export class RetryLimit {
  readonly #limitMs: number
  readonly #failingSinceMs = new Map<HookTarget, number>()

  constructor(limitMs = Number.POSITIVE_INFINITY) {
    this.#limitMs = limitMs
  }

  /** What became of a try that began then. A target that refuses a document answers all the same. */
  tried(target: HookTarget, { kind }: Attempt, startedMs: number): void {
    if (kind === 'delivered' || kind === 'hopeless') this.#failingSinceMs.delete(target)
    else if (!this.#failingSinceMs.has(target)) this.#failingSinceMs.set(target, startedMs)
  }

  /** Whether it makes no sense to try another delivery to it. */
  isHopeless(target: HookTarget, nowMs: number): boolean {
    const sinceMs = this.#failingSinceMs.get(target)
    return sinceMs !== undefined && this.isOver(sinceMs, nowMs)
  }

  /** Whether a delivery that was tried first then is not to be tried again at that time. */
  isOver(firstMs: number, againMs: number): boolean {
    return againMs - firstMs > this.#limitMs
  }
}

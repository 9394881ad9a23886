import { sleep } from '../util/concurrency.ts'

const SHORTEST_MS = 5
const FIRST_CAP_MS = 60
const LAST_CAP_MS = 400
/** So long who wants a lease sleeps at most between the first tries, ms. */
const FIRST_LEASE_CAP_MS = 20
/** From the end of such a sleep to that of the try after it on a near service, ms. */
const TRY_MS = 5
const LONGEST_STAND_BACK_MS = 1_000
const MAX_RETRY_AFTER_MS = 10_000

/**
 * How long to wait before the next try, ms: full jitter between 5 and a cap that doubles from 60 to 400.
 * Jitter keeps waiters from meeting again at each try.
 *
 * @param attempt 0 after the first try, 1 after the second, …
 * @param random a number in [0, 1), as `Math.random` gives it
 */
export function backOff(attempt: number, random: () => number): number {
  const cap = Math.min(LAST_CAP_MS, FIRST_CAP_MS * 2 ** Math.max(0, attempt))
  return SHORTEST_MS + random() * (cap - SHORTEST_MS)
}

/**
 * How long to wait before the next try for a lease that passes from hand to hand, ms: full jitter between 5 and a cap. It is
 * a third of the wait so far, from 20 to 60, and once that is longer an eighth of it, up to 400: who waits for a single turn
 * is not late for it, those who wait for many do not hinder them, and nobody sleeps much longer than those who come later.
 */
export function leaseRetryDelay(waitedMs: number, random: () => number): number {
  const early = Math.min(FIRST_CAP_MS, Math.max(FIRST_LEASE_CAP_MS, waitedMs / 3))
  const cap = Math.min(LAST_CAP_MS, Math.max(early, waitedMs / 8))
  return SHORTEST_MS + random() * (cap - SHORTEST_MS)
}

/** How long to wait after the first write that lost to another's, ms: full jitter below the longest first sleep of a waiter. */
export function conflictDelay(random: () => number): number {
  return random() * FIRST_LEASE_CAP_MS
}

/**
 * How long who had a turn stands back before the next, ms: as long as the turns of the others take, a tenth more or less, at
 * most a second; at least until the first sleep of who waits is surely over.
 *
 * @param turnsMs how long a turn of each of the others takes, all together
 */
export function yieldDelay(turnsMs: number, random: () => number): number {
  const leastMs = FIRST_LEASE_CAP_MS + TRY_MS
  return Math.max(leastMs, Math.min(LONGEST_STAND_BACK_MS, turnsMs * 0.9)) * (1 + random() / 5)
}

/**
 * How long to wait after the try without an answer of this index (from 0), ms: jitter between a quarter and the whole of
 * a cap that doubles from 200 to 2 000, so that an outage is not hammered; at least what `Retry-After` asks, up to 10 s.
 */
export function unansweredDelay(index: number, retryAfterMs: number | undefined, random: () => number): number {
  const cap = Math.min(2_000, 200 * 2 ** index)
  return Math.max(cap * (0.25 + 0.75 * random()), cappedRetryAfter(retryAfterMs))
}

/** How much of a `Retry-After` is heeded, ms: up to 10 s. */
export function cappedRetryAfter(retryAfterMs: number | undefined): number {
  return Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS)
}

export interface PatienceOptions {
  /** Pauses end when they sum up to this, ms. */
  readonly limitMs: number
  readonly random: () => number
  /** Once aborted no further pause begins, as if the limit were reached. */
  readonly stop?: AbortSignal | undefined
  readonly signal?: AbortSignal | undefined
}

/** Waits between the tries of one kind, with back-off, until a limit. Measured on the monotonic clock. */
export class RetryBudget {
  readonly #options: PatienceOptions
  #attempts = 0
  #waitedMs = 0

  constructor(options: PatienceOptions) {
    this.#options = options
  }

  /** What the pauses took so far, whole ms. */
  get waitedMs(): number {
    return Math.round(this.#waitedMs)
  }

  /** Waits for the next try; `false`, without waiting, when the limit is reached. Rejects with the signal's reason. */
  async pause(): Promise<boolean> {
    const { limitMs, random, stop, signal } = this.#options
    const leftMs = limitMs - this.#waitedMs
    if (leftMs <= 0 || stop?.aborted) return false
    const from = performance.now()
    await sleep(Math.min(leftMs, backOff(this.#attempts, random)), signal)
    this.#waitedMs += performance.now() - from
    this.#attempts += 1
    return true
  }
}

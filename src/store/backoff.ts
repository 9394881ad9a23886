import { sleep } from '../util/concurrency.ts'

const SHORTEST_MS = 5
const FIRST_CAP_MS = 60
const LAST_CAP_MS = 400
/** Longest sleep of a lease waiter between its first attempts, ms. */
const FIRST_LEASE_CAP_MS = 20
/** Duration of one acquire on a near service, ms. */
const ATTEMPT_MS = 5
const LONGEST_YIELD_MS = 1_000
const MAX_RETRY_AFTER_MS = 10_000

/**
 * Delay before the next attempt, ms: full jitter between 5 and a cap that doubles from 60 to 400.
 * Jitter keeps waiters from colliding at every attempt.
 *
 * @param attempt 0 after the first attempt, 1 after the second, …
 * @param random a number in [0, 1), as `Math.random` gives it
 */
export function backOff(attempt: number, random: () => number): number {
  const cap = Math.min(LAST_CAP_MS, FIRST_CAP_MS * 2 ** Math.max(0, attempt))
  return SHORTEST_MS + random() * (cap - SHORTEST_MS)
}

/**
 * Delay before the next attempt to acquire a contended lease, ms: full jitter between 5 and a cap. The cap is a third of the
 * wait so far, within 20 and 60, and later an eighth of the wait, up to 400. A waiter behind a single writer thus is not
 * late, many waiters do not slow the writers down, and an early waiter does not sleep much longer than a late one.
 */
export function leaseRetryDelay(waitedMs: number, random: () => number): number {
  const early = Math.min(FIRST_CAP_MS, Math.max(FIRST_LEASE_CAP_MS, waitedMs / 3))
  const cap = Math.min(LAST_CAP_MS, Math.max(early, waitedMs / 8))
  return SHORTEST_MS + random() * (cap - SHORTEST_MS)
}

/** Delay after the first write that lost to another writer, ms: full jitter below the longest first sleep of a waiter. */
export function conflictDelay(random: () => number): number {
  return random() * FIRST_LEASE_CAP_MS
}

/**
 * Delay before a process that just held the lease may acquire it again, ms: the duration of the others' turns, 10 % more or
 * less, at most a second before jitter; at least until the first sleep of a waiter is certainly over.
 *
 * @param turnsMs duration of one turn of each of the others, summed up
 */
export function yieldDelay(turnsMs: number, random: () => number): number {
  const leastMs = FIRST_LEASE_CAP_MS + ATTEMPT_MS
  return Math.max(leastMs, Math.min(LONGEST_YIELD_MS, turnsMs * 0.9)) * (1 + random() / 5)
}

/**
 * Delay after an unanswered attempt, ms: jitter between a quarter and the whole of a cap that doubles from 200 to 2 000, which
 * protects a service in an outage; at least the `Retry-After` of the answer, up to 10 s.
 *
 * @param index number of unanswered attempts before this one
 */
export function unansweredDelay(index: number, retryAfterMs: number | undefined, random: () => number): number {
  const cap = Math.min(2_000, 200 * 2 ** index)
  return Math.max(cap * (0.25 + 0.75 * random()), cappedRetryAfter(retryAfterMs))
}

/** A `Retry-After`, capped at 10 s, ms. */
export function cappedRetryAfter(retryAfterMs: number | undefined): number {
  return Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS)
}

export interface RetryBudgetOptions {
  /** Limit for the sum of all pauses, ms. */
  readonly limitMs: number
  readonly random: () => number
  /** After its abort no further pause begins, as if the limit were reached. */
  readonly stop?: AbortSignal | undefined
  readonly signal?: AbortSignal | undefined
}

/** Pauses between attempts with back-off, up to a limit for all pauses. Measured on the monotonic clock. */
export class RetryBudget {
  readonly #options: RetryBudgetOptions
  #attempts = 0
  #waitedMs = 0

  constructor(options: RetryBudgetOptions) {
    this.#options = options
  }

  /** Sum of the pauses so far, whole ms. */
  get waitedMs(): number {
    return Math.round(this.#waitedMs)
  }

  /** Waits for the next attempt; `false` at once if the limit is reached. Rejects with the signal's reason. */
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

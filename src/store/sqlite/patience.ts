import { pause } from '../backoff.ts'
import { StoreUnreachable } from '../errors.ts'
import { lockedFor } from './errors.ts'
import { Replaced } from './file-identity.ts'

const SHORTEST_MS = 1
const FIRST_CAP_MS = 3
const LAST_CAP_MS = 60

/**
 * How long this process stands back after a try that met a lock, ms: jitter between 1 and a cap that is a quarter of the
 * wait so far, from 3 to 60. Locks of transactions last for less than a ms; who waits for one that lasts long blocks its
 * thread less and less of the time.
 */
export function lockDelay(waitedMs: number, random: () => number): number {
  const cap = Math.min(LAST_CAP_MS, Math.max(FIRST_CAP_MS, waitedMs / 4))
  return SHORTEST_MS + random() * (cap - SHORTEST_MS)
}

/** When the calls of one process may ask for the lock of a file again: all at the same time, so that they share the next try. */
export class StandBack {
  readonly #random: () => number
  #untilMs = 0

  constructor(random: () => number) {
    this.#random = random
  }

  get leftMs(): number {
    return this.#untilMs - performance.now()
  }

  begin(waitedMs: number): void {
    if (this.leftMs <= 0) this.#untilMs = performance.now() + lockDelay(waitedMs, this.#random)
  }
}

/** How long one call has waited since it first met a lock, tries included. */
export class LockWait {
  readonly #limitMs: number
  readonly #signal: AbortSignal | undefined
  #sinceMs: number | undefined

  constructor(limitMs: number, signal: AbortSignal | undefined) {
    this.#limitMs = limitMs
    this.#signal = signal
  }

  get waitedMs(): number {
    return this.#sinceMs === undefined ? 0 : performance.now() - this.#sinceMs
  }

  get isOver(): boolean {
    return this.waitedMs >= this.#limitMs
  }

  begin(): void {
    this.#sinceMs ??= performance.now()
  }

  /** Waits so many ms, at most until the limit; rejects with the signal's reason. */
  async pause(ms: number): Promise<void> {
    this.begin()
    await pause(Math.max(0, Math.min(ms, this.#limitMs - this.waitedMs)), this.#signal)
  }
}

/** The fault when the patience of a call is over; `error` is that of the last try. */
export function waitedTooLong(path: string, error: unknown, waitedMs: number): StoreUnreachable {
  if (!(error instanceof Replaced)) return lockedFor(path, error, waitedMs)
  return new StoreUnreachable(`${path} is replaced again and again`, { cause: error })
}

import type { Clock } from '../../../util/clock.ts'

/** The shortest lease that the service grants: a dead writer blocks the stream no longer than this. */
export const LEASE_S = 15
/** A lease is trusted for two thirds of its duration, counted from sending the acquire. */
const TRUSTED_MS = (LEASE_S * 1_000 * 2) / 3
/** Drift between wall clock and monotonic clock beyond which the machine counts as suspended, ms. */
const SUSPENDED_MS = 1_000

/** Time of sending an acquire. */
export interface AcquireTime {
  /** Monotonic ms. */
  readonly sentMs: number
  /** Wall clock minus monotonic clock, ms. */
  readonly gapMs: number
}

/** A lease acquired by this process, and how long it can be trusted. */
export class ChangeLease {
  readonly id: string
  readonly #acquired: AcquireTime
  readonly #machine: Clock

  constructor(id: string, acquired: AcquireTime, machine: Clock) {
    this.id = id
    this.#acquired = acquired
    this.#machine = machine
  }

  /** Whether the lease certainly still holds: it has not expired, and the machine has not slept. */
  get isTrusted(): boolean {
    return this.#lastsFor(TRUSTED_MS)
  }

  /** Whether enough time is left for one more change, including its retries. */
  get isReusable(): boolean {
    return this.#lastsFor(TRUSTED_MS / 2)
  }

  #lastsFor(ms: number): boolean {
    const nowMs = this.#machine.monotonicMs()
    const gapMs = this.#machine.wallMs() - nowMs
    return nowMs < this.#acquired.sentMs + ms && Math.abs(gapMs - this.#acquired.gapMs) < SUSPENDED_MS
  }
}

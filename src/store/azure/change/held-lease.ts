import type { Clock } from '../../../util/clock.ts'

/** The shortest lease the service grants: a writer that dies blocks the stream no longer than this. */
export const LEASE_S = 15
/** A lease is trusted for two thirds of its time, counted from before its acquire was sent. */
const TRUSTED_MS = (LEASE_S * 1_000 * 2) / 3
/** If the wall clock drifts further than this from the monotonic one, the machine was suspended. */
const SUSPENDED_MS = 1_000

/** When an acquire was sent. */
export interface AcquireTime {
  /** Monotonic ms. */
  readonly sentMs: number
  /** Wall clock minus monotonic clock, ms. */
  readonly gapMs: number
}

/** A lease this process acquired, and how long it may rely on it. */
export class ChangeLease {
  readonly id: string
  readonly #acquired: AcquireTime
  readonly #machine: Clock

  constructor(id: string, acquired: AcquireTime, machine: Clock) {
    this.id = id
    this.#acquired = acquired
    this.#machine = machine
  }

  /** Whether the lease certainly still lasts: its time is not up, and the machine has not slept. */
  get isTrusted(): boolean {
    return this.#lastsFor(TRUSTED_MS)
  }

  /** Whether enough time is left for one more change under it, and for the faults that change may meet. */
  get isReusable(): boolean {
    return this.#lastsFor(TRUSTED_MS / 2)
  }

  #lastsFor(ms: number): boolean {
    const nowMs = this.#machine.monotonicMs()
    const gapMs = this.#machine.wallMs() - nowMs
    return nowMs < this.#acquired.sentMs + ms && Math.abs(gapMs - this.#acquired.gapMs) < SUSPENDED_MS
  }
}

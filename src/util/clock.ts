import { setImmediate } from 'node:timers/promises'
import { sleepUntilAborted } from './concurrency.ts'

/** The two clocks of a machine; tests pass their own. */
export interface Clock {
  /** Ms since some moment; it never jumps, and may stop while the machine sleeps. */
  monotonicMs(): number
  /** Epoch ms; it jumps when the clock is set. */
  wallMs(): number
}

export const machineClock: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
}

/** Tolerance for times of two machines, ms: a transaction has the time of its writer, the stream that of the store. */
export const CLOCKS_DIFFER_MS = 10_000

/** A point in time on both clocks. */
export interface Instant {
  readonly monotonicMs: number
  readonly wallMs: number
}

export function instantOf(clock: Clock): Instant {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() }
}

/** The longer time of both clocks, ms: one stops while the machine sleeps, the other may be set back. */
export function elapsedMs(since: Instant, clock: Clock): number {
  return Math.max(clock.monotonicMs() - since.monotonicMs, clock.wallMs() - since.wallMs)
}

/** Clocks, randomness and waiting; tests pass their own. */
export interface Timing extends Clock {
  /** In [0, 1). */
  random(): number
  /** Waits; resolves early when the signal aborts. */
  pause(ms: number, signal: AbortSignal): Promise<void>
}

/** The further functions of a worker. */
export interface WorkerTiming extends Timing {
  /** Lets pending callbacks run first. */
  tick(): Promise<void>
}

/** Shared by all callers of one tick: they continue together, and their writes share a commit. */
let turn: Promise<void> | undefined

export const machineTiming: WorkerTiming = {
  ...machineClock,
  random: () => Math.random(),
  pause: sleepUntilAborted,
  tick: () => {
    turn ??= setImmediate().then(() => {
      turn = undefined
    })
    return turn
  },
}

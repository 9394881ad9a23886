import { setImmediate } from 'node:timers/promises'
import { sleepUntilAborted } from './concurrency.ts'

/** The two clocks of a machine; tests bring their own. */
export interface Clock {
  /** Ms since some moment; it never jumps, and may stand still while the machine sleeps. */
  monotonicMs(): number
  /** Epoch ms; it jumps when somebody sets it. */
  wallMs(): number
}

export const machineClock: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
}

/** A point in time on both clocks. */
export interface Instant {
  readonly monotonicMs: number
  readonly wallMs: number
}

export function instantOf(clock: Clock): Instant {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() }
}

/** One clock stands still while the machine sleeps, the other may be set back: the longer time counts, ms. */
export function elapsedMs(since: Instant, clock: Clock): number {
  return Math.max(clock.monotonicMs() - since.monotonicMs, clock.wallMs() - since.wallMs)
}

/** Time and chance; tests bring their own. */
export interface Timing extends Clock {
  /** In [0, 1). */
  random(): number
  /** Waits; resolves early when the signal aborts. */
  pause(ms: number, signal: AbortSignal): Promise<void>
}

/** What a worker needs besides. */
export interface WorkerTiming extends Timing {
  /** Lets what was woken up go first. */
  tick(): Promise<void>
}

/** One for all who ask meanwhile: they go on together, and what they write then shares a commit. */
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

import { setImmediate } from 'node:timers/promises'
import { pause } from './concurrency.ts'

/** Time and chance; tests bring their own. */
export interface Timing {
  /** A clock that only goes forward, ms; it may stand still while the machine sleeps. */
  monotonicMs(): number
  /** The clock of this machine, epoch ms; somebody may set it. */
  wallMs(): number
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

/** Timers take no more, ms. */
const MOST_MS = 2 ** 31 - 1

/** One for all who ask meanwhile: they go on together, and what they write then shares a commit. */
let turn: Promise<void> | undefined

export const machineTiming: WorkerTiming = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  random: () => Math.random(),
  pause: (ms, signal) => pause(Math.min(ms, MOST_MS), signal),
  tick: () => {
    turn ??= setImmediate().then(() => {
      turn = undefined
    })
    return turn
  },
}

/** A point in time on both clocks. */
export interface Moment {
  readonly monotonicMs: number
  readonly wallMs: number
}

export function momentOf(timing: Timing): Moment {
  return { monotonicMs: timing.monotonicMs(), wallMs: timing.wallMs() }
}

/** One clock stands still while the machine sleeps, the other may be set back: the longer time counts, ms. */
export function elapsedMs(since: Moment, timing: Timing): number {
  return Math.max(timing.monotonicMs() - since.monotonicMs, timing.wallMs() - since.wallMs)
}

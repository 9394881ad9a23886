import type { Limit } from '../stream/time/deadlines.ts'

/** A stretch of time, by the store's clock, of which the watchdog saw nothing, or that the clock jumped over. */
export interface BlindSpot {
  readonly fromMs: number
  readonly toMs: number
}

/** An instant: by the store's clock, and by one that only goes forward. */
export interface Moment {
  readonly nowMs: number
  readonly atMs: number
}

/** `start`: nobody watched before. */
export type Blindness = BlindSpot & { readonly why: 'outage' | 'pause' | 'clock' | 'start' }

/** Shorter gaps and jumps are no news. */
export const SLACK_MS = 5_000
/** Workers are told to show life at least so often within a limit. */
const SIGNS_PER_LIMIT = 3
const MAX_SPOTS = 16

/**
 * True if the store's clock was set forward between two moments. One that merely runs fast was not: signs of life carry
 * its time too.
 */
export function isSetForward(last: Moment, now: Moment): boolean {
  const elapsedMs = now.atMs - last.atMs
  return now.nowMs - last.nowMs - elapsedMs > 1.5 * elapsedMs + SLACK_MS
}

export function isSetBack(last: Moment, now: Moment): boolean {
  return now.nowMs < last.nowMs - SLACK_MS
}

/** With one more spot. Those that overlap become one. Of too many the shortest goes: the fewest limits depend on it. */
export function withSpot(spots: readonly BlindSpot[], spot: BlindSpot): readonly BlindSpot[] {
  const isApart = ({ fromMs, toMs }: BlindSpot) => toMs <= spot.fromMs || spot.toMs <= fromMs
  const overlapping = [spot, ...spots.filter(each => !isApart(each))]
  const whole = {
    fromMs: Math.min(...overlapping.map(({ fromMs }) => fromMs)),
    toMs: Math.max(...overlapping.map(({ toMs }) => toMs)),
  }
  const all = [...spots.filter(isApart), whole]
  if (all.length <= MAX_SPOTS) return all
  const shortest = all.reduce((a, b) => (b.toMs - b.fromMs < a.toMs - a.fromMs ? b : a))
  return all.filter(each => each !== shortest)
}

/** What a clock showed before it was set back to `nowMs` never was. */
export function untilNow(spots: readonly BlindSpot[], nowMs: number): readonly BlindSpot[] {
  return spots.flatMap(({ fromMs, toMs }) => (fromMs < nowMs ? [{ fromMs, toMs: Math.min(toMs, nowMs) }] : []))
}

/**
 * When a limit counts as over. Of a worker that could show no life for longer than a third of its limit, the silence
 * before the end of that time says nothing: it gets as long as it has between two signs of life to give the next.
 */
export function judgedDueMs({ kind, dueMs, from }: Limit, spots: readonly BlindSpot[]): number {
  if (kind !== 'no-sign-of-life' || from === undefined) return dueMs
  const graceMs = from.timeoutMs / SIGNS_PER_LIMIT
  let judgedMs = dueMs
  for (const { fromMs, toMs } of spots) {
    const wasMissed = toMs - fromMs > graceMs && from.ms < toMs && judgedMs > fromMs
    if (wasMissed) judgedMs = Math.max(judgedMs, toMs + graceMs)
  }
  return judgedMs
}

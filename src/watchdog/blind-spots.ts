import type { Limit } from '../stream/due.ts'

/** A stretch of time, by the store's clock, of which the watchdog saw nothing, or that the clock jumped over. */
export interface BlindSpot {
  readonly fromMs: number
  readonly toMs: number
}

/** When something was seen: by the store's clock, and by one that only goes forward. */
export interface Moment {
  readonly nowMs: number
  readonly atMs: number
}

export type Blindness = BlindSpot & { readonly why: 'outage' | 'pause' | 'clock' }

/** Shorter gaps are no news, whatever the interval. */
const SLACK_MS = 5_000
/** Workers are told to show life at least so often within a limit. */
const SIGNS_PER_LIMIT = 3
/** Older ones matter to limits of months only, which outlive them. */
const MAX_SPOTS = 8

/**
 * Whether anything may have been missed between the last good pass and this one. A store that did not answer kept
 * workers from showing life as well; a machine that slept did so to workers on it; a clock that jumped makes all of them
 * look silent. A clock that merely runs fast is none of these: signs of life carry its time too.
 */
export function blindnessBetween(
  last: Moment,
  now: Moment,
  { intervalMs, hadFailures }: { readonly intervalMs: number; readonly hadFailures: boolean },
): Blindness | undefined {
  const elapsedMs = now.atMs - last.atMs
  const shownMs = now.nowMs - last.nowMs
  const spot = { fromMs: last.nowMs, toMs: now.nowMs }
  if (shownMs - elapsedMs > 1.5 * elapsedMs + SLACK_MS) return { ...spot, why: 'clock' }
  if (elapsedMs > 2 * intervalMs + SLACK_MS) return { ...spot, why: hadFailures ? 'outage' : 'pause' }
  return undefined
}

/** The spots to keep: the latest. */
export function withSpot(spots: readonly BlindSpot[], spot: BlindSpot): readonly BlindSpot[] {
  return [...spots, spot].slice(-MAX_SPOTS)
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
    const wasMissed = toMs - fromMs > graceMs && from.ms < toMs && dueMs > fromMs
    if (wasMissed) judgedMs = Math.max(judgedMs, toMs + graceMs)
  }
  return judgedMs
}

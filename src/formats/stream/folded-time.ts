import type { EventHistory } from '../../stream/journal/phases.ts'

/** A period of time, epoch ms. */
export interface TimeRange {
  readonly fromMs: number
  readonly toMs: number
}

/** Shorter gaps are never folded: they are part of the picture. */
const LEAST_GAP_MS = 30 * 60_000
/** A gap is folded if it is this many times as long as all that is not a gap. */
const LEAST_RATIO = 2
/** A gap counts as one from this share of the whole on. */
const LEAST_SHARE = 0.05
const MOST_GAPS = 50

/** When nothing ran and nothing changed for a long time, in order. The last gap is not over: it ends now. */
export interface QuietTimes {
  readonly gaps: readonly TimeRange[]
  /** The last change, if nothing has run since. */
  readonly sinceMs: number | undefined
}

/** The times at which nothing ran and nothing changed. */
export function quietTimes(histories: Iterable<EventHistory>): QuietTimes {
  const changes: number[] = []
  const runs: TimeRange[] = []
  for (const { spans, ends } of histories) {
    for (const { phase, fromMs, toMs = Number.POSITIVE_INFINITY } of spans) {
      if (phase === 'running') runs.push({ fromMs, toMs })
      changes.push(fromMs)
      if (toMs < Number.POSITIVE_INFINITY) changes.push(toMs)
    }
    for (const { atMs } of ends) changes.push(atMs)
  }
  const isQuiet = (gap: TimeRange) => runs.every(run => run.toMs <= gap.fromMs || run.fromMs >= gap.toMs)
  const times = Float64Array.from(changes).sort()
  const lastMs = times.at(-1)
  const gaps: TimeRange[] = []
  for (let at = 1; at < times.length; at++) {
    const gap = { fromMs: times[at - 1] ?? 0, toMs: times[at] ?? 0 }
    if (lengthOf(gap) >= LEAST_GAP_MS && isQuiet(gap)) gaps.push(gap)
  }
  const isIdle = runs.every(({ toMs }) => toMs < Number.POSITIVE_INFINITY)
  return { gaps, sinceMs: isIdle ? lastMs : undefined }
}

/** The gaps of a period that are folded, in order: those much longer than everything else in it. */
export function foldsOf({ fromMs, toMs }: TimeRange, { gaps, sinceMs }: QuietTimes, nowMs: number): TimeRange[] {
  const all = sinceMs === undefined || sinceMs >= nowMs ? gaps : [...gaps, { fromMs: sinceMs, toMs: nowMs }]
  const least = Math.max(LEAST_GAP_MS, LEAST_SHARE * (toMs - fromMs))
  const within = all
    .map(gap => ({ fromMs: Math.max(gap.fromMs, fromMs), toMs: Math.min(gap.toMs, toMs) }))
    .filter(gap => lengthOf(gap) >= least)
    .slice(-MOST_GAPS)
  const busyMs = toMs - fromMs - within.reduce((sum, gap) => sum + lengthOf(gap), 0)
  return within.filter(gap => lengthOf(gap) > LEAST_RATIO * busyMs)
}

export function lengthOf({ fromMs, toMs }: TimeRange): number {
  return toMs - fromMs
}

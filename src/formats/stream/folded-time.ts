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
  const changes: { readonly atMs: number; readonly running: number }[] = []
  for (const { spans, ends } of histories) {
    for (const { phase, fromMs, toMs } of spans) {
      const running = phase === 'running' ? 1 : 0
      changes.push({ atMs: fromMs, running })
      if (toMs !== undefined) changes.push({ atMs: toMs, running: -running })
    }
    for (const { atMs } of ends) changes.push({ atMs, running: 0 })
  }
  changes.sort((a, b) => a.atMs - b.atMs)
  const gaps: TimeRange[] = []
  let running = 0
  for (const [at, change] of changes.entries()) {
    const before = changes[at - 1]
    if (before !== undefined && running === 0 && change.atMs - before.atMs >= LEAST_GAP_MS) {
      gaps.push({ fromMs: before.atMs, toMs: change.atMs })
    }
    running += change.running
  }
  return { gaps, sinceMs: running === 0 ? changes.at(-1)?.atMs : undefined }
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

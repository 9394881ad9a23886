/** What the watchdogs of a store last wrote of themselves. All times are the store's clock, epoch ms. */
export interface WatchdogState {
  /** In the order in which they started. */
  readonly watchdogs: readonly WatchdogEntry[]
  /** Some of the document could not be understood and is left out. */
  readonly damaged: boolean
  /** Why nothing of it can be read, when that is so. */
  readonly fault?: string
}

/** One watchdog, that is one process. */
export interface WatchdogEntry {
  /** A UUID of its own at each start. */
  readonly id: string
  readonly host: string
  readonly pid: number
  /** Of leasectl. */
  readonly version: string
  /** Its actor in journals. */
  readonly by: string
  readonly startedMs: number
  /** When it wrote this. */
  readonly writtenMs: number
  /** When it ended in good order. */
  readonly stoppedMs: number | undefined
  /** From one sweep to the next, ms. */
  readonly intervalMs: number
  readonly settings: WatchdogSettings
  /** End of its last sweep; `undefined` before the first. */
  readonly lastSweepMs: number | undefined
  /** How long that took, ms; 0 before the first. */
  readonly tookMs: number
  readonly lastPass: LastPass | undefined
  /** The last passes, the latest first. */
  readonly passes: readonly PassFigures[]
  /** The last decisions that were carried out, the latest first. */
  readonly decisions: readonly CarriedDecision[]
  /** How its last pass was judged. */
  readonly breaker: BreakerFigures | undefined
  /** The soonest limits, the soonest first. */
  readonly next: readonly { readonly stream: string; readonly dueMs: number }[]
  /** The shards it holds, of how many; `undefined` where it watches all streams. */
  readonly shards: { readonly held: readonly number[]; readonly total: number } | undefined
  /** Why its last pass came to no end; `undefined` when it did. */
  readonly failure: PassFailure | undefined
  /** The last pass that came to no end, whatever came after it. */
  readonly lastFailure: PassFailure | undefined
  /** Since its start: passes that came to an end, those that did not, and events that were ended. */
  readonly totals: { readonly passes: number; readonly failed: number; readonly ended: number }
}

export interface WatchdogSettings {
  /** The glob of the names it watches; `undefined` for all. */
  readonly match: string | undefined
  /** For events that say nothing of their own. */
  readonly onDue: string
  readonly maxPerPass: number
  /** 0 to 1. */
  readonly maxShare: number
}

/** The last pass that came to its end. */
export interface LastPass {
  readonly kind: 'sweep' | 'appointment'
  readonly startedMs: number
  readonly tookMs: number
  /** All streams, and those that are its own. */
  readonly total: number
  readonly watched: number
  readonly openEvents: number
  readonly overdue: number
  /** Documents that were read, and that could not be read. */
  readonly documents: number
  readonly unreadable: number
  readonly endedEvents: number
  readonly deferred: number
  /** How many decisions came to which outcome. */
  readonly outcomes: Readonly<Record<string, number>>
  /** The store's clock less that of its machine, ms. */
  readonly skewMs: number
}

export interface PassFigures {
  readonly startedMs: number
  readonly tookMs: number
  readonly ended: number
  readonly overdue: number
}

export interface CarriedDecision {
  readonly stream: string
  /** `abort-event`, `abort-stream`, `notify` or `settle`; a newer watchdog may know more. */
  readonly kind: string
  /** `undefined` for `settle`, as the two below. */
  readonly event: string | undefined
  /** Which limit ended, and when. */
  readonly limit: string | undefined
  readonly dueMs: number | undefined
  /** `ended`, `already`, `showed-life` and others. */
  readonly outcome: string
  readonly atMs: number
}

export interface BreakerFigures {
  /** It stopped the pass: nothing was ended. */
  readonly isOpen: boolean
  readonly wouldEnd: number
  readonly openEvents: number
  /** 0 to 1. */
  readonly maxShare: number
}

export interface PassFailure {
  readonly startedMs: number
  /** Since when no pass came to its end. */
  readonly sinceMs: number
  readonly code: string
  readonly message: string
}

/** `late`: it has missed some of its passes. `silent`: it is gone, or cannot write. `stopped`: it ended in good order. */
export type Liveness = 'live' | 'late' | 'silent' | 'stopped'

/** Clocks may differ by so much, ms. */
export const MOST_SKEW_MS = 60_000

/**
 * Whether a watchdog is still there, by when it last wrote. A sweep that takes longer than the interval is followed by the
 * next one at once, so the longer of both counts. What was written more than a minute from now tells nothing: the clock of
 * its machine is or was wrong.
 *
 * @param nowMs the store's clock, epoch ms
 */
export function livenessOf(
  {
    stoppedMs,
    writtenMs,
    intervalMs,
    tookMs,
  }: Pick<WatchdogEntry, 'stoppedMs' | 'writtenMs' | 'intervalMs' | 'tookMs'>,
  nowMs: number,
): Liveness {
  if (stoppedMs !== undefined) return 'stopped'
  const cadenceMs = Math.max(intervalMs, tookMs)
  const silentMs = nowMs - writtenMs
  if (silentMs < -MOST_SKEW_MS || silentMs > 10 * cadenceMs + 60_000) return 'silent'
  return silentMs > 3 * cadenceMs + 10_000 ? 'late' : 'live'
}

/**
 * Into how many shards the watchdogs that are there divide the streams, the fewest first; 0 for those that watch all.
 * More than one number: they share no work with each other, which does no harm but was hardly meant.
 */
export function shardCounts({ watchdogs }: Pick<WatchdogState, 'watchdogs'>, nowMs: number): readonly number[] {
  const there = watchdogs.filter(entry => ['live', 'late'].includes(livenessOf(entry, nowMs)))
  return [...new Set(there.map(({ shards }) => shards?.total ?? 0))].sort((a, b) => a - b)
}

/** The order of entries in the document: by their start, those of the same moment by id. */
export function byStart(a: WatchdogEntry, b: WatchdogEntry): number {
  return a.startedMs - b.startedMs || (a.id < b.id ? -1 : 1)
}

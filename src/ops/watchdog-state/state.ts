/** States last written by the watchdogs of a store. All times are the store's clock, epoch ms. */
export interface WatchdogState {
  /** In the order in which they started. */
  readonly watchdogs: readonly WatchdogEntry[]
  /** Parts of the document were unreadable and are left out. */
  readonly damaged: boolean
  /** Why the whole document cannot be read, if so. */
  readonly fault?: string
}

/** The state of one watchdog, that is, of one process. */
export interface WatchdogEntry {
  /** A new UUID for each start. */
  readonly id: string
  readonly host: string
  readonly pid: number
  /** Version of leasectl. */
  readonly version: string
  /** Its actor in journals. */
  readonly by: string
  readonly startedMs: number
  /** When this state was written. */
  readonly writtenMs: number
  /** When it stopped properly. */
  readonly stoppedMs: number | undefined
  /** Interval between sweeps, ms. */
  readonly intervalMs: number
  readonly settings: WatchdogSettings
  /** End of its last sweep; `undefined` before the first. */
  readonly lastSweepMs: number | undefined
  /** Duration of that sweep, ms; 0 before the first. */
  readonly tookMs: number
  readonly lastPass: LastPass | undefined
  /** The last passes, the latest first. */
  readonly passes: readonly PassFigures[]
  /** The last executed decisions, the latest first. */
  readonly decisions: readonly RecordedDecision[]
  /** Circuit breaker in its last pass. */
  readonly breaker: BreakerFigures | undefined
  /** The next deadlines, the soonest first. */
  readonly next: readonly { readonly stream: string; readonly dueMs: number }[]
  /** The shards it holds, and their total number; `undefined` if it watches all streams. */
  readonly shards: { readonly held: readonly number[]; readonly total: number } | undefined
  /** Why its last pass failed; `undefined` if it succeeded. */
  readonly failure: PassFailure | undefined
  /** Its last failed pass, even if others succeeded since. */
  readonly lastFailure: PassFailure | undefined
  /** Since its start: completed passes, failed passes, and ended events. */
  readonly totals: { readonly passes: number; readonly failed: number; readonly ended: number }
}

export interface WatchdogSettings {
  /** Glob of the watched names; `undefined` for all. */
  readonly match: string | undefined
  /** Applies to events without their own setting. */
  readonly onDue: string
  readonly maxPerPass: number
  /** 0 to 1. */
  readonly maxShare: number
}

/** The last completed pass. */
export interface LastPass {
  readonly kind: 'sweep' | 'appointment'
  readonly startedMs: number
  readonly tookMs: number
  /** All streams, and those of its own shards. */
  readonly total: number
  readonly watched: number
  readonly openEvents: number
  readonly overdue: number
  /** Documents that were read, and those that were unreadable. */
  readonly documents: number
  readonly unreadable: number
  readonly endedEvents: number
  readonly deferred: number
  /** Number of decisions by outcome. */
  readonly outcomes: Readonly<Record<string, number>>
  /** The store's clock minus that of its machine, ms. */
  readonly skewMs: number
}

export interface PassFigures {
  readonly startedMs: number
  readonly tookMs: number
  readonly ended: number
  readonly overdue: number
}

export interface RecordedDecision {
  readonly stream: string
  /** `abort-event`, `abort-stream`, `notify` or `settle`; a newer watchdog may write others. */
  readonly kind: string
  /** `undefined` for `settle`, like the two below. */
  readonly event: string | undefined
  /** Kind of the expired deadline, and its time. */
  readonly limit: string | undefined
  readonly dueMs: number | undefined
  /** `ended`, `already`, `showed-life` and others. */
  readonly outcome: string
  readonly atMs: number
}

export interface BreakerFigures {
  /** It stopped the pass: no event was ended. */
  readonly isOpen: boolean
  readonly wouldEnd: number
  readonly openEvents: number
  /** 0 to 1. */
  readonly maxShare: number
}

export interface PassFailure {
  readonly startedMs: number
  /** Since when passes have failed. */
  readonly sinceMs: number
  readonly code: string
  readonly message: string
}

/** `late`: it missed some passes. `silent`: it is gone, or cannot write. `stopped`: it stopped properly. */
export type Liveness = 'live' | 'late' | 'silent' | 'stopped'

/** Tolerated difference between clocks, ms. */
export const MOST_SKEW_MS = 60_000

/**
 * Judges by the last write whether a watchdog is still running. A sweep that takes longer than the interval is followed
 * by the next one at once, so the longer of both counts. A time of writing more than a minute in the future proves
 * nothing: the clock of its machine is or was wrong.
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
 * The numbers of shards that running watchdogs use, in ascending order; 0 for those that watch all streams. Watchdogs
 * with different numbers share no work, which is harmless but hardly intended.
 */
export function shardCounts({ watchdogs }: Pick<WatchdogState, 'watchdogs'>, nowMs: number): readonly number[] {
  const running = watchdogs.filter(entry => ['live', 'late'].includes(livenessOf(entry, nowMs)))
  return [...new Set(running.map(({ shards }) => shards?.total ?? 0))].sort((a, b) => a - b)
}

/** Sorts states by start, and by id if they started at the same time. */
export function byStart(a: WatchdogEntry, b: WatchdogEntry): number {
  return a.startedMs - b.startedMs || (a.id < b.id ? -1 : 1)
}

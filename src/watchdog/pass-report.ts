import { isAbandoned } from '../ops/open-events.ts'
import { StepWorkTally } from '../ops/steps.ts'
import type { DecisionOutcome, WatchdogDecision } from './decision.ts'
import type { ObservationTime } from './observation-gaps.ts'
import type { KnownStream } from './registry/known-stream.ts'
import type { PendingKind } from './registry/pending-work.ts'
import type { StreamRegistry } from './registry/registry.ts'
import type { BreakerState, PassReport, Upcoming, WorkTotals } from './report.ts'

/** Intermediate results of a pass. */
export interface PassProgress {
  readonly kind: PassReport['kind']
  readonly started: ObservationTime
  listedMs?: number
  documents: number
  readonly decisions: WatchdogDecision[]
  /** Decisions that are neither executed nor postponed yet. */
  readonly undone: Set<WatchdogDecision>
  readonly outcomes: Partial<Record<DecisionOutcome, number>>
  endedEvents: number
  deferred: number
}

export function begin(kind: PassReport['kind'], started: ObservationTime): PassProgress {
  return {
    kind,
    started,
    documents: 0,
    decisions: [],
    undone: new Set(),
    outcomes: {},
    endedEvents: 0,
    deferred: 0,
  }
}

/** The report of a completed pass. */
export function reportOf(
  { kind, started, listedMs, documents, outcomes, endedEvents, deferred }: PassProgress,
  now: ObservationTime & { readonly wallMs: number },
  rest: Totals & { readonly breaker: BreakerState; readonly unreadable: PassReport['unreadable'] },
): PassReport {
  return {
    kind,
    startedMs: started.nowMs,
    tookMs: now.atMs - started.atMs,
    ...(listedMs === undefined ? {} : { listedMs }),
    ...rest,
    documents,
    outcomes,
    endedEvents,
    deferred,
    skewMs: now.nowMs - now.wallMs,
  }
}

/** Totals over the streams of a registry. */
type Totals = Pick<
  PassReport,
  'streams' | 'total' | 'watched' | 'openEvents' | 'overdue' | 'notified' | 'next' | 'work'
>

/** Limit for the reported next deadlines. */
const MAX_NEXT = 20

/** Totals of all known streams. @param owns streams of others count only in `total` */
export function totalsOf(registry: StreamRegistry, nowMs: number, owns: (name: string) => boolean): Totals {
  const statuses = new Map<string, number>()
  const soonest = new Soonest()
  let watched = 0
  let openEvents = 0
  let overdue = 0
  let notified = 0
  const work = new WorkTally(nowMs)
  for (const stream of registry.values()) {
    const { name, status, dueMs } = stream
    if (!owns(name)) continue
    watched += 1
    openEvents += stream.openEvents
    if (dueMs <= nowMs) overdue += 1
    else if (stream.isNotified) notified += 1
    if (status !== '') statuses.set(status, (statuses.get(status) ?? 0) + 1)
    soonest.see(name, dueMs)
    if (stream.pending !== undefined) work.add(stream.pending, stream)
  }
  // Object.fromEntries is safe for untrusted keys such as `__proto__`.
  const streams = Object.fromEntries(statuses)
  const next = soonest.sorted()
  const counts = { total: registry.size, watched, openEvents, overdue: overdue + notified, notified }
  return { streams, ...counts, next, work: work.totals() }
}

class WorkTally {
  readonly #nowMs: number
  readonly #steps = new StepWorkTally()
  #failed = 0
  #abandoned = 0
  #suspended = 0
  #readySinceMs = Number.POSITIVE_INFINITY

  constructor(nowMs: number) {
    this.#nowMs = nowMs
  }

  add({ hasFailed, isSuspended, ready }: PendingKind, { claimEndMs, readySinceMs }: KnownStream): void {
    if (hasFailed) this.#failed += 1
    if (isSuspended) this.#suspended += 1
    if (isAbandoned({ claimEndMs }, this.#nowMs)) this.#abandoned += 1
    this.#steps.addReady(ready)
    this.#readySinceMs = Math.min(this.#readySinceMs, readySinceMs)
  }

  totals(): WorkTotals {
    return {
      failed: this.#failed,
      abandoned: this.#abandoned,
      suspended: this.#suspended,
      ready: this.#steps.largest().map(({ step, ready }) => ({ step, count: ready })),
      readySinceMs: Number.isFinite(this.#readySinceMs) ? this.#readySinceMs : undefined,
    }
  }
}

/** Keeps the soonest deadlines of a large number. */
class Soonest {
  #kept: Upcoming[] = []
  #latestMs = Number.POSITIVE_INFINITY

  see(stream: string, dueMs: number): void {
    if (dueMs >= this.#latestMs) return
    this.#kept.push({ stream, dueMs })
    if (this.#kept.length >= 2 * MAX_NEXT) this.#shorten()
  }

  sorted(): readonly Upcoming[] {
    this.#shorten()
    return this.#kept
  }

  #shorten(): void {
    this.#kept = this.#kept.sort((a, b) => a.dueMs - b.dueMs).slice(0, MAX_NEXT)
    if (this.#kept.length === MAX_NEXT) this.#latestMs = this.#kept.at(-1)?.dueMs ?? this.#latestMs
  }
}

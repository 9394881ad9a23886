import type { DecisionOutcome, WatchdogDecision } from './decision.ts'
import type { ObservationTime } from './observation-gaps.ts'
import type { StreamRegistry } from './registry/registry.ts'
import type { BreakerState, PassReport, Upcoming } from './report.ts'

/** What a pass has come to so far. */
export interface PassProgress {
  readonly kind: PassReport['kind']
  readonly started: ObservationTime
  listedMs?: number
  documents: number
  readonly decisions: WatchdogDecision[]
  /** Decisions that nobody has carried out or put off yet. */
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

/** What a pass has come to in the end. */
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

/** What the streams of a registry add up to. */
type Totals = Pick<PassReport, 'streams' | 'total' | 'watched' | 'openEvents' | 'overdue' | 'next'>

/** So many of the soonest limits are told. */
const MAX_NEXT = 20

/** Counts all streams that are kept. @param owns streams of others are counted in `total` alone */
export function totalsOf(registry: StreamRegistry, nowMs: number, owns: (name: string) => boolean): Totals {
  const statuses = new Map<string, number>()
  const soonest = new Soonest()
  let watched = 0
  let openEvents = 0
  let overdue = 0
  for (const stream of registry.values()) {
    const { name, status, dueMs } = stream
    if (!owns(name)) continue
    watched += 1
    openEvents += stream.openEvents
    if (dueMs <= nowMs) overdue += 1
    if (status !== '') statuses.set(status, (statuses.get(status) ?? 0) + 1)
    soonest.see(name, dueMs)
  }
  // Built in one go: statuses are texts of strangers, also `__proto__`.
  const streams = Object.fromEntries(statuses)
  return { streams, total: registry.size, watched, openEvents, overdue, next: soonest.sorted() }
}

/** Keeps the soonest of very many. */
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

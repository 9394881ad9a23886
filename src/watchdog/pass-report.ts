import type { Moment } from './blind-spots.ts'
import type { Decision, DecisionOutcome } from './decision.ts'
import type { BreakerState, PassReport } from './report.ts'
import type { Survey } from './survey.ts'

/** What a pass has come to so far. */
export interface Progress {
  readonly kind: PassReport['kind']
  readonly started: Moment
  listedMs?: number
  documents: number
  readonly decisions: Decision[]
  /** Decisions that nobody has carried out or put off yet. */
  readonly undone: Set<Decision>
  readonly outcomes: Partial<Record<DecisionOutcome, number>>
  endedEvents: number
  deferred: number
}

export function begin(kind: PassReport['kind'], started: Moment): Progress {
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
  { kind, started, listedMs, documents, outcomes, endedEvents, deferred }: Progress,
  now: Moment & { readonly wallMs: number },
  rest: Survey & { readonly breaker: BreakerState; readonly unreadable: PassReport['unreadable'] },
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

import type { DecisionOutcome, ExecutedDecision, Expiry } from '../../../src/watchdog/decision.ts'
import type { FailedPass, PassReport } from '../../../src/watchdog/report.ts'

/** 2026-03-01T14:02:11Z. */
export const AT = Date.UTC(2026, 2, 1, 14, 2, 11)

/** A sweep that found two streams and nothing to do. */
export function sweepReport(more: Partial<PassReport> = {}): PassReport {
  return {
    kind: 'sweep',
    startedMs: AT,
    tookMs: 300,
    listedMs: 200,
    streams: { inprocess: 2 },
    total: 2,
    watched: 2,
    openEvents: 6,
    overdue: 0,
    notified: 0,
    work: { failed: 0, abandoned: 0, suspended: 0, ready: [], readySinceMs: undefined },
    documents: 1,
    outcomes: {},
    endedEvents: 0,
    deferred: 0,
    breaker: { isOpen: false, wouldEnd: 0, openEvents: 6, maxShare: 0.2 },
    next: [],
    unreadable: [],
    skewMs: 0,
    ...more,
  }
}

export const OPEN_BREAKER: PassReport['breaker'] = { isOpen: true, wouldEnd: 312, openEvents: 900, maxShare: 0.2 }

/** The search of an order had no heartbeat for two minutes. */
export function expiry(more: Partial<Expiry> = {}): Expiry {
  return {
    kind: 'abort-event',
    stream: 'orders/4711',
    event: '01.02.00',
    name: 'Search',
    limit: 'no-sign-of-life',
    dueMs: AT - 400,
    message: 'timed out: no sign of life since 2026-03-01T14:00:11.000Z (timeout 00:02:00)',
    commandId: 'watchdog:01.02.00:1:2026-03-01T14:02:10.600Z',
    ends: 1,
    ...more,
  }
}

export function carried(outcome: DecisionOutcome, more: Partial<ExecutedDecision> = {}): ExecutedDecision {
  return { decision: expiry(), outcome, atMs: AT, ...more }
}

export function failedPass(more: Partial<FailedPass> = {}): FailedPass {
  const message = 'the store does not answer'
  return { startedMs: AT, tookMs: 30_000, code: 'store-unreachable', message, sinceMs: AT, error: undefined, ...more }
}

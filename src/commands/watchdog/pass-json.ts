import { jsonTime } from '../../formats/json.ts'
import type { PassReport } from '../../watchdog/report.ts'

/** What a pass saw and did, for programs. Lengths of time in whole ms. */
export function passJson(report: PassReport): object {
  const { breaker } = report
  return {
    kind: report.kind,
    started: jsonTime(report.startedMs),
    tookMs: Math.round(report.tookMs),
    streams: report.streams,
    total: report.total,
    watched: report.watched,
    openEvents: report.openEvents,
    overdue: report.overdue,
    documents: report.documents,
    outcomes: report.outcomes,
    endedEvents: report.endedEvents,
    deferred: report.deferred,
    breaker: {
      open: breaker.isOpen,
      wouldEnd: breaker.wouldEnd,
      openEvents: breaker.openEvents,
      maxShare: breaker.maxShare,
    },
    next: report.next.map(({ stream, dueMs }) => ({ stream, due: jsonTime(dueMs) })),
    unreadable: report.unreadable,
    skewMs: Math.round(report.skewMs),
  }
}

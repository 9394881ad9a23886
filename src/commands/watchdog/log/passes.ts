import { jsonTime } from '../../../formats/json.ts'
import { counted } from '../../../formats/terminal/count-text.ts'
import { isoTime } from '../../../stream/time/dates.ts'
import type { FailedPass, PassReport } from '../../../watchdog/report.ts'
import type { Entry, Level } from './entries.ts'
import { shortTime } from './times.ts'

/** One pass. */
export function passEntry(report: PassReport, level: Level): Entry {
  const { kind, startedMs, tookMs, listedMs, total, watched, documents, openEvents, overdue } = report
  const { outcomes, endedEvents, deferred, skewMs } = report
  const what = kind === 'sweep' ? `sweep of ${counted(total, 'stream')}` : 'appointment'
  const found = Object.entries(outcomes).map(([outcome, count]) => `${count} ${outcome}`)
  if (deferred > 0) found.push(`${deferred} left for later`)
  if (report.breaker.isOpen) found.push(`the breaker holds back ${counted(report.breaker.wouldEnd, 'event')}`)
  return {
    level,
    kind: 'pass',
    text: `${what} in ${shortTime(tookMs)}: ${found.length === 0 ? 'nothing to do' : found.join(', ')}`,
    fields: {
      pass: kind,
      started: jsonTime(startedMs),
      tookMs: Math.round(tookMs),
      ...(listedMs === undefined ? {} : { listedMs: Math.round(listedMs) }),
      ...{ total, watched, documents, openEvents, overdue, outcomes, endedEvents, deferred },
      skewMs: Math.round(skewMs),
    },
  }
}

/** What passes came to since the last such line. */
export interface Tally {
  readonly sinceMs: number
  readonly passes: number
  readonly failed: number
  readonly endedEvents: number
}

/** Shows that the watchdog lives although nothing happens. @param report the last pass that came to its end */
export function summaryEntry(
  { sinceMs, passes, failed, endedEvents }: Tally,
  report: PassReport,
  nowMs: number,
): Entry {
  const { watched, openEvents, overdue, next } = report
  const soonest = next[0]
  const told = [
    `watching ${counted(watched, 'stream')} with ${counted(openEvents, 'open event')}`,
    `${counted(endedEvents, 'event')} ended in ${shortTime(nowMs - sinceMs)}`,
    ...(overdue === 0 ? [] : [`${counted(overdue, 'stream')} overdue`]),
    ...(failed === 0 ? [] : [`${failed} of ${counted(passes, 'pass', 'passes')} came to no end`]),
    ...(soonest === undefined ? [] : [`next is ${soonest.stream}, due ${isoTime(soonest.dueMs)}`]),
  ]
  return {
    level: 'info',
    kind: 'summary',
    text: told.join('; '),
    fields: {
      ...{ since: jsonTime(sinceMs), passes, failed, endedEvents, watched, openEvents, overdue },
      ...(soonest === undefined ? {} : { next: { stream: soonest.stream, due: jsonTime(soonest.dueMs) } }),
    },
  }
}

/** A pass came to no end. */
export function failedEntry({ code, message, sinceMs, tookMs }: FailedPass, level: Level): Entry {
  return {
    level,
    kind: 'outage',
    text: `no pass comes to its end, so nothing is ended: ${message} [${code}]`,
    fields: { code, error: message, since: jsonTime(sinceMs), tookMs: Math.round(tookMs) },
  }
}

/** As loud as the outage itself was, but for being good news. */
export function recoveredEntry(sinceMs: number, nowMs: number): Entry {
  return {
    level: 'warn',
    kind: 'recovered',
    style: 'good',
    text: `passes come to their end again, after ${shortTime(nowMs - sinceMs)}`,
    fields: { since: jsonTime(sinceMs), lastedMs: nowMs - sinceMs },
  }
}

/** The breaker opened, or closed. @param overrule the command that ends all that is due nevertheless */
export function breakerEntry(breaker: PassReport['breaker'], overrule: string): Entry {
  const { isOpen, wouldEnd, openEvents, maxShare } = breaker
  const share = Math.round(maxShare * 1000) / 10
  return {
    level: isOpen ? 'error' : 'warn',
    kind: 'breaker',
    ...(isOpen ? {} : { style: 'good' }),
    text: isOpen
      ? `open: ${wouldEnd} of ${openEvents} open events would be ended, more than --max-share ${share}%; nothing is ended. Are the workers or the clocks at fault? If all of them are to end: ${overrule}`
      : 'closed: what is due is ended again',
    fields: { open: isOpen, wouldEnd, openEvents, maxShare },
  }
}

import {
  type LastPass,
  type Liveness,
  livenessOf,
  type PassFailure,
  type WatchdogEntry,
} from '../ops/watchdog-state/state.ts'
import { upcoming } from '../ops/watchdog-state/upcoming.ts'
import { visibleName, visibleText } from '../util/visible-text.ts'
import { jsonTime, orNull } from './json.ts'
import { clock, counted, countText, dueText, span, type TimeStyle, timeText } from './terminal/numbers.ts'
import type { Paint, Style } from './terminal/style.ts'
import { type Cell, type Column, table } from './terminal/table.ts'

export interface StatusText {
  /** The store's clock, epoch ms. */
  readonly nowMs: number
  readonly time: TimeStyle
  readonly paint: Paint
  /** Columns of the terminal; without it nothing is cut. */
  readonly width?: number
}

/** The watchdogs, the next deadlines, the last decisions and the problems, in sections separated by a blank line. */
export function watchdogStatusText(watchdogs: readonly WatchdogEntry[], options: StatusText): string[] {
  const there = watchdogs.filter(entry => isRunning(livenessOf(entry, options.nowMs)))
  const sections = [
    table(
      COLUMNS,
      watchdogs.toSorted(byLiveness(options.nowMs)).map(entry => row(entry, options)),
      options,
    ),
    section('ends next', NEXT_COLUMNS, nextRows(watchdogs, options), options),
    section('decided last', DECISION_COLUMNS, decisionRows(watchdogs, options), options),
    problemLines(there, options),
  ]
  return sections.filter(lines => lines.length > 0).flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]))
}

/** True if it probably runs. */
export function isRunning(liveness: Liveness): boolean {
  return liveness === 'live' || liveness === 'late'
}

const MOST_ROWS = 10

/** Glyph and colour of each state. */
export const LIVENESS_STYLES: { readonly [Of in Liveness]: { readonly glyph: string; readonly style: Style } } = {
  live: { glyph: '●', style: 'good' },
  late: { glyph: '◷', style: 'warn' },
  silent: { glyph: '✗', style: 'bad' },
  stopped: { glyph: '○', style: 'dim' },
}

const COLUMNS: readonly Column[] = [
  { title: 'STATE' },
  { title: 'HOST', give: 1, min: 8 },
  { title: 'PID', align: 'right' },
  { title: 'EVERY', align: 'right' },
  { title: 'LAST SWEEP', align: 'right' },
  { title: 'TOOK', align: 'right', spare: 3 },
  { title: 'WATCHED', align: 'right' },
  { title: 'OVERDUE', align: 'right' },
  { title: 'ENDED', align: 'right', spare: 1 },
  { title: 'BREAKER' },
  { title: 'SHARDS', give: 2, min: 6, spare: 2 },
]

function row(entry: WatchdogEntry, options: StatusText): Cell[] {
  const { lastPass, breaker, lastSweepMs, tookMs } = entry
  const liveness = livenessOf(entry, options.nowMs)
  const { glyph, style } = LIVENESS_STYLES[liveness]
  const failing: Cell = { text: '! failing', style: 'bad' }
  return [
    entry.failure !== undefined && liveness === 'live' ? failing : { text: `${glyph} ${liveness}`, style },
    visibleText(entry.host),
    String(entry.pid),
    span(entry.intervalMs),
    agoText(lastSweepMs, options),
    lastSweepMs === undefined ? '-' : tookText(tookMs),
    lastPass === undefined ? '-' : countText(lastPass.watched),
    lastPass === undefined ? '-' : overdueCell(lastPass.overdue),
    countText(entry.totals.ended),
    breaker?.isOpen ? { text: '! open', style: 'bad' } : 'closed',
    // Other watchdogs have long taken over the shards of one that is gone.
    liveness === 'silent' ? '-' : shardsText(entry.shards),
  ]
}

function agoText(ms: number | undefined, { nowMs, time }: StatusText): string {
  return ms !== undefined && time === 'relative' ? `${span(nowMs - ms)} ago` : timeText(ms, nowMs, time)
}

/** A duration, short ones in milliseconds. */
export function tookText(ms: number): string {
  return ms < 1_000 ? `${Math.floor(ms)}ms` : span(ms)
}

function overdueCell(overdue: number): Cell {
  return overdue === 0 ? '0' : { text: countText(overdue), style: 'warn' }
}

/** `0-3,5 of 8`; `all` for a watchdog that does not share. */
export function shardsText(shards: WatchdogEntry['shards']): string {
  if (shards === undefined) return 'all'
  const ranges: { first: number; last: number }[] = []
  for (const shard of shards.held) {
    const range = ranges.at(-1)
    if (range !== undefined && range.last === shard - 1) range.last = shard
    else ranges.push({ first: shard, last: shard })
  }
  const held = ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(',')
  return `${held === '' ? 'none' : held} of ${shards.total}`
}

/** Orders running watchdogs first, then by start. */
export function byLiveness(nowMs: number) {
  const rank = (entry: WatchdogEntry) => (isRunning(livenessOf(entry, nowMs)) ? 0 : 1)
  return (a: WatchdogEntry, b: WatchdogEntry) => rank(a) - rank(b) || a.startedMs - b.startedMs
}

function section(title: string, columns: readonly Column[], rows: readonly Cell[][], options: StatusText): string[] {
  return rows.length === 0 ? [] : [options.paint('strong', title), ...table(columns, rows, options)]
}

const NEXT_COLUMNS: readonly Column[] = [{ title: 'DUE' }, { title: 'STREAM', give: 1, min: 12, cut: 'middle' }]

function nextRows(watchdogs: readonly WatchdogEntry[], { nowMs, time }: StatusText): Cell[][] {
  const soonest = upcoming(watchdogs, nowMs).slice(0, MOST_ROWS)
  return soonest.map(({ stream, dueMs }) => [
    { text: dueText(dueMs, nowMs, time), style: dueMs > nowMs ? 'plain' : 'warn' },
    visibleName(stream),
  ])
}

const DECISION_COLUMNS: readonly Column[] = [
  { title: 'WHEN', align: 'right' },
  { title: 'OUTCOME' },
  { title: 'STREAM', give: 1, min: 12, cut: 'middle' },
  { title: 'EVENT', give: 2, min: 6 },
  { title: 'LIMIT' },
  { title: 'LATE', align: 'right' },
]

const OUTCOME_STYLES: { readonly [outcome: string]: Style } = {
  ended: 'good',
  settled: 'good',
  notified: 'good',
  failed: 'bad',
  unknown: 'warn',
  busy: 'warn',
  refused: 'warn',
}

/** Colour of an outcome; a newer watchdog may write unknown ones. */
export function outcomeStyle(outcome: string): Style {
  return (Object.hasOwn(OUTCOME_STYLES, outcome) && OUTCOME_STYLES[outcome]) || 'plain'
}

function decisionRows(watchdogs: readonly WatchdogEntry[], options: StatusText): Cell[][] {
  const latest = watchdogs.flatMap(({ decisions }) => decisions).sort((a, b) => b.atMs - a.atMs)
  return latest.slice(0, MOST_ROWS).map(({ stream, event, limit, dueMs, outcome, atMs }) => [
    agoText(atMs, options),
    {
      text: visibleText(outcome),
      style: outcomeStyle(outcome),
    },
    visibleName(stream),
    visibleText(event ?? '') || '-',
    visibleText(limit ?? '') || '-',
    dueMs === undefined ? '-' : tookText(Math.max(0, atMs - dueMs)),
  ])
}

/** Problems that keep running watchdogs from working. */
function problemLines(there: readonly WatchdogEntry[], { nowMs, time, paint }: StatusText): string[] {
  return there.flatMap(({ host, pid, failure, breaker }) => {
    const who = visibleText(`${host} ${pid}`)
    const lines: string[] = []
    if (failure !== undefined) {
      const since =
        time === 'relative' ? `for ${span(nowMs - failure.sinceMs)}` : `since ${clock(failure.sinceMs, nowMs, time)}`
      lines.push(
        paint(
          'bad',
          `! ${who}: no pass has completed ${since}: ${visibleText(`${failure.message} [${failure.code}]`)}`,
        ),
      )
    }
    if (breaker?.isOpen) {
      const share = `${countText(breaker.wouldEnd)} of ${counted(breaker.openEvents, 'open event')}`
      const most = `${Math.round(breaker.maxShare * 100)}%`
      lines.push(
        paint(
          'bad',
          `! ${who}: the circuit breaker is open: a pass would end ${share}, more than ${most}, so it ends none`,
        ),
      )
    }
    return lines
  })
}

/** A watchdog as JSON; fields are only ever added. @param nowMs the store's clock, epoch ms */
export function watchdogJson(entry: WatchdogEntry, nowMs: number) {
  const { id, host, pid, version, by, intervalMs, tookMs, settings, breaker, shards, totals } = entry
  return {
    id,
    state: livenessOf(entry, nowMs),
    host,
    pid,
    version,
    by,
    started: jsonTime(entry.startedMs),
    written: jsonTime(entry.writtenMs),
    stopped: jsonTime(entry.stoppedMs),
    intervalMs,
    settings: { ...settings, match: orNull(settings.match) },
    lastSweep: jsonTime(entry.lastSweepMs),
    tookMs,
    lastPass: entry.lastPass === undefined ? null : lastPassJson(entry.lastPass),
    passes: entry.passes.map(({ startedMs, ...figures }) => ({ started: jsonTime(startedMs), ...figures })),
    decisions: entry.decisions.map(({ stream, kind, event, limit, dueMs, outcome, atMs }) => ({
      stream,
      action: kind,
      event: orNull(event),
      limit: orNull(limit),
      due: jsonTime(dueMs),
      outcome,
      at: jsonTime(atMs),
    })),
    breaker: breaker === undefined ? null : breakerJson(breaker),
    next: entry.next.map(({ stream, dueMs }) => ({ stream, due: jsonTime(dueMs) })),
    shards: shards ?? null,
    failure: failureJson(entry.failure),
    lastFailure: failureJson(entry.lastFailure),
    totals,
  }
}

function lastPassJson({ startedMs, kind, ...figures }: LastPass) {
  return { kind, started: jsonTime(startedMs), ...figures }
}

function breakerJson({ isOpen, ...figures }: NonNullable<WatchdogEntry['breaker']>) {
  return { open: isOpen, ...figures }
}

function failureJson(failure: PassFailure | undefined) {
  if (failure === undefined) return null
  const { startedMs, sinceMs, code, message } = failure
  return { started: jsonTime(startedMs), since: jsonTime(sinceMs), code, message }
}

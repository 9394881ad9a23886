import type { LimitAction } from '../ops/event-limits.ts'
import {
  type LastPass,
  type Liveness,
  livenessOf,
  type PassFailure,
  type RecordedDecision,
  type WatchdogEntry,
} from '../ops/watchdog-state/state.ts'
import { upcoming } from '../ops/watchdog-state/upcoming.ts'
import { type CellFormat, type Field, rowOf, type TableColumn, textFormat } from './field.ts'
import { jsonTime, orNull } from './json.ts'
import { counted, countText, span, type TimeStyle } from './terminal/numbers.ts'
import type { Paint, Style } from './terminal/style.ts'
import { type Cell, table } from './terminal/table.ts'

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
  const { nowMs, time, paint } = options
  const format = textFormat(nowMs, time)
  const rows = <Item>(columns: readonly TableColumn<Item>[], items: readonly Item[]) =>
    table(
      columns,
      items.map(item => rowOf(columns, item, format)),
      options,
    )
  const section = <Item>(title: string, columns: readonly TableColumn<Item>[], items: readonly Item[]) =>
    items.length === 0 ? [] : [paint('strong', title), ...rows(columns, items.slice(0, MOST_ROWS))]
  const sections = [
    rows(COLUMNS, watchdogs.toSorted(byLiveness(nowMs))),
    section('ends next', NEXT_COLUMNS, upcoming(watchdogs, nowMs)),
    section('decided last', DECISION_COLUMNS, latestDecisions(watchdogs)),
    problemsOf(watchdogs, format).map(problem => paint('bad', `! ${problem}`)),
  ]
  return sections.filter(lines => lines.length > 0).flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]))
}

const MOST_ROWS = 10

/** True if it probably runs. */
function isRunning(liveness: Liveness): boolean {
  return liveness === 'live' || liveness === 'late'
}

/** Orders running watchdogs first, then by start. */
export function byLiveness(nowMs: number) {
  const rank = (entry: WatchdogEntry) => (isRunning(livenessOf(entry, nowMs)) ? 0 : 1)
  return (a: WatchdogEntry, b: WatchdogEntry) => rank(a) - rank(b) || a.startedMs - b.startedMs
}

/** The decisions of all watchdogs, the latest first. */
export function latestDecisions(watchdogs: readonly WatchdogEntry[]): RecordedDecision[] {
  return watchdogs.flatMap(({ decisions }) => decisions).sort((a, b) => b.atMs - a.atMs)
}

/** Problems that keep running watchdogs from working. */
export function problemsOf(watchdogs: readonly WatchdogEntry[], format: CellFormat): string[] {
  const running = watchdogs.filter(entry => isRunning(livenessOf(entry, format.nowMs)))
  return running.flatMap(({ host, pid, failure, breaker }) => {
    const problems: string[] = []
    if (failure !== undefined) {
      const { sinceMs, message, code } = failure
      const since =
        format.time === 'relative' ? `for ${format.span(format.nowMs - sinceMs)}` : `since ${format.age(sinceMs)}`
      problems.push(`no pass has completed ${since}: ${message} [${code}]`)
    }
    if (breaker?.isOpen) {
      const share = `${countText(breaker.wouldEnd)} of ${counted(breaker.openEvents, 'open event')}`
      const most = `${Math.round(breaker.maxShare * 100)}%`
      problems.push(`circuit breaker open, nothing is ended: a pass would end ${share}, limit ${most}`)
    }
    return problems.map(problem => format.text(`${host}:${pid}: ${problem}`))
  })
}

/** The fields of a watchdog, in text output and on the dashboard. */
export const WATCHDOG_FIELDS = {
  state: { title: 'STATE', cell: stateCell },
  every: { title: 'EVERY', align: 'right', cell: ({ intervalMs }, format) => format.span(intervalMs) },
  lastSweep: { title: 'LAST SWEEP', align: 'right', cell: ({ lastSweepMs }, format) => format.past(lastSweepMs) },
  took: {
    title: 'TOOK',
    align: 'right',
    cell: ({ lastSweepMs, tookMs }) => (lastSweepMs === undefined ? '-' : tookText(tookMs)),
  },
  watched: {
    title: 'WATCHED',
    align: 'right',
    cell: ({ lastPass }) => (lastPass === undefined ? '-' : countText(lastPass.watched)),
  },
  overdue: { title: 'OVERDUE', align: 'right', cell: overdueCell },
  ended: { title: 'ENDED', align: 'right', cell: ({ totals }) => countText(totals.ended) },
  breaker: {
    title: 'BREAKER',
    cell: ({ breaker }) => (breaker?.isOpen ? { text: '! open', style: 'bad' } : 'closed'),
  },
  shards: {
    title: 'SHARDS',
    // Other watchdogs have long taken over the shards of one that is gone.
    cell: (entry, { nowMs }) => (livenessOf(entry, nowMs) === 'silent' ? '-' : shardsText(entry.shards)),
  },
} satisfies { readonly [name: string]: Field<WatchdogEntry> }

const COLUMNS: readonly TableColumn<WatchdogEntry>[] = [
  WATCHDOG_FIELDS.state,
  { title: 'HOST', give: 1, min: 8, cell: ({ host }, format) => format.text(host) },
  { title: 'PID', align: 'right', cell: ({ pid }) => String(pid) },
  WATCHDOG_FIELDS.every,
  WATCHDOG_FIELDS.lastSweep,
  { ...WATCHDOG_FIELDS.took, spare: 3 },
  WATCHDOG_FIELDS.watched,
  WATCHDOG_FIELDS.overdue,
  { ...WATCHDOG_FIELDS.ended, spare: 1 },
  WATCHDOG_FIELDS.breaker,
  { ...WATCHDOG_FIELDS.shards, give: 2, min: 6, spare: 2 },
]

const LIVENESS_STYLES: { readonly [Of in Liveness]: { readonly glyph: string; readonly style: Style } } = {
  live: { glyph: '●', style: 'good' },
  late: { glyph: '◷', style: 'warn' },
  silent: { glyph: '✗', style: 'bad' },
  stopped: { glyph: '○', style: 'dim' },
}

function stateCell(entry: WatchdogEntry, { nowMs }: CellFormat): Cell {
  const liveness = livenessOf(entry, nowMs)
  if (entry.failure !== undefined && liveness === 'live') return { text: '! failing', style: 'bad' }
  const { glyph, style } = LIVENESS_STYLES[liveness]
  return { text: `${glyph} ${liveness}`, style }
}

function overdueCell({ lastPass }: WatchdogEntry): Cell {
  if (lastPass === undefined) return '-'
  return lastPass.overdue === 0 ? '0' : { text: countText(lastPass.overdue), style: 'warn' }
}

/** A duration, short ones in milliseconds. */
export function tookText(ms: number): string {
  return ms < 1_000 ? `${Math.floor(ms)}ms` : span(ms)
}

/** `0-3,5 of 8`; `all` for a watchdog that does not share. */
function shardsText(shards: WatchdogEntry['shards']): string {
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

/** A stream whose limit expires next. */
interface NextLimit {
  readonly stream: string
  readonly dueMs: number | undefined
}

/** The fields of a limit that expires next. */
const NEXT_FIELDS = {
  due: { title: 'DUE', cell: ({ dueMs }, format) => (dueMs === undefined ? '-' : format.due(dueMs)) },
  stream: { title: 'STREAM', cut: 'middle', cell: ({ stream }, format) => format.name(stream) },
} satisfies { readonly [name: string]: Field<NextLimit> }

const NEXT_COLUMNS: readonly TableColumn<NextLimit>[] = [NEXT_FIELDS.due, { ...NEXT_FIELDS.stream, give: 1, min: 12 }]

/** What a watchdog does when a limit has passed. */
export function actionCell(action: LimitAction | 'settle'): Cell {
  switch (action) {
    case 'abort-event':
      return { text: 'abort event', style: 'bad' }
    case 'abort-stream':
      return { text: 'abort stream', style: 'bad' }
    case 'end-attempt':
      return { text: 'end attempt', style: 'warn' }
    case 'notify':
      return { text: 'notify', style: 'warn' }
    case 'settle':
      return { text: 'settle', style: 'plain' }
    default:
      return action satisfies never
  }
}

/** The fields of a watchdog's decision. */
export const DECISION_FIELDS = {
  when: { title: 'WHEN', align: 'right', cell: ({ atMs }, format) => format.past(atMs) },
  outcome: {
    title: 'OUTCOME',
    cell: ({ outcome }, format) => ({ text: format.text(outcome), style: outcomeStyle(outcome) }),
  },
  stream: { title: 'STREAM', cut: 'middle', cell: ({ stream }, format) => format.name(stream) },
  event: { title: 'EVENT', cell: ({ event }, format) => format.text(event ?? '') || '-' },
  limit: { title: 'LIMIT', cell: ({ limit }, format) => format.text(limit ?? '') || '-' },
  late: {
    title: 'LATE',
    align: 'right',
    cell: ({ atMs, dueMs }) => (dueMs === undefined ? '-' : tookText(Math.max(0, atMs - dueMs))),
  },
} satisfies { readonly [name: string]: Field<RecordedDecision> }

const DECISION_COLUMNS: readonly TableColumn<RecordedDecision>[] = [
  DECISION_FIELDS.when,
  DECISION_FIELDS.outcome,
  { ...DECISION_FIELDS.stream, give: 1, min: 12 },
  { ...DECISION_FIELDS.event, give: 2, min: 6 },
  DECISION_FIELDS.limit,
  DECISION_FIELDS.late,
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
function outcomeStyle(outcome: string): Style {
  return (Object.hasOwn(OUTCOME_STYLES, outcome) && OUTCOME_STYLES[outcome]) || 'plain'
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

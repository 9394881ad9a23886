import type { CellFormat } from '../../formats/field.ts'
import { calmSpan, spacedCount, spacedCounted } from '../../formats/terminal/numbers.ts'
import type { Cell } from '../../formats/terminal/table.ts'
import {
  actionCell,
  byLiveness,
  DECISION_FIELDS,
  latestDecisions,
  problemsOf,
  tookText,
  WATCHDOG_FIELDS,
} from '../../formats/watchdog-status.ts'
import { livenessOf, type RecordedDecision, type WatchdogEntry } from '../../ops/watchdog-state/state.ts'
import { upcoming } from '../../ops/watchdog-state/upcoming.ts'
import { type LimitRow, limitRow } from '../data/limit-rows.ts'
import type { DryRun, WatchdogOfStore, WatchdogView } from '../data/types.ts'
import { unwatchedStores } from '../data/unwatched.ts'
import type { Scene } from '../state/context.ts'
import { PANES_COLUMNS, WIDE_COLUMNS } from '../state/layout.ts'
import { type ListColumn, listRow, placeColumns, titleRow } from './columns.ts'
import { emptyRows, noMatch, waitingRows } from './empty.ts'
import { type Area, BLANK, filled, rowOf, type ScreenRow } from './row.ts'
import { safeText } from './safe-text.ts'
import { isTiny, marksOf } from './streams.ts'
import { type FlexColumn, tableRows } from './table.ts'
import { pastText, type RowTime, screenFormat } from './times.ts'
import { listWindow } from './window.ts'

/** The watchdogs, the next limits (the list with the cursor, the dry run beside them), the last decisions. */
export function watchdogRows(scene: Scene, area: Area): ScreenRow[] {
  const waiting = waitingRows(scene, area)
  if (waiting !== undefined) return filled(waiting, area)
  if (isTiny(scene)) return filled(nextPart(scene, area), area)
  const watchdogs = watchdogsPart(scene, area)
  let free = area.rows - watchdogs.length - 1
  // The list with the cursor is always shown; other parts only if they leave enough of it.
  const others = [decisionRows(scene, { ...area, rows: Math.max(3, Math.floor(area.rows / 4)) })].filter(part => {
    if (part.length === 0 || free - part.length - 1 < LEAST_NEXT) return false
    free -= part.length + 1
    return true
  })
  const sections = [watchdogs, nextPart(scene, { ...area, rows: Math.min(free, nextHeight(scene)) }), ...others]
  return filled(
    sections.flatMap((rows, at) => (at === 0 ? rows : [BLANK, ...rows])),
    area,
  )
}

/** Title and three rows. */
const LEAST_NEXT = 4

function watchdogsPart(scene: Scene, area: Area): ScreenRow[] {
  const { state } = scene.data.watchdog
  if (state === undefined) return emptyRows({ ...area, rows: 1 }, 'reading the watchdog state …', [], 'dim')
  if (state.watchdogs.length === 0) {
    return emptyRows({ ...area, rows: 2 }, 'no watchdog has ever run here: overdue events are not ended', [
      'leasectl watchdog   runs one; D shows what it would do now',
    ])
  }
  const most = Math.max(2, Math.floor(area.rows / 3))
  return [...watchdogTable(scene, { ...area, rows: most }), ...problemRows(scene, area).slice(0, 3)]
}

/** With all rows of the list. */
function nextHeight({ listing, data: { watchdog } }: Scene): number {
  const { dryRun } = watchdog
  const warnings =
    dryRun?.kind === 'done' ? [dryRun.breaker, dryRun.fault].filter(text => text !== undefined).length : 0
  const titles = 1 + (dryRun === undefined ? 0 : 1 + warnings)
  return Math.max(LEAST_NEXT, titles + listing.keys.length)
}

function nextPart(scene: Scene, area: Area): ScreenRow[] {
  const dryRun = isTiny(scene) ? [] : dryRunRows(scene, area)
  const rest = { ...area, rows: Math.max(0, area.rows - dryRun.length) }
  return filled([...dryRun, ...limitPart(scene, rest)], area)
}

function limitPart(scene: Scene, area: Area): ScreenRow[] {
  if (scene.listing.keys.length > 0) return nextRows(scene, area)
  if (scene.listing.total > 0) return noMatch(scene, area, 'stream').filter(row => row !== BLANK)
  const known = upcoming(scene.data.watchdog.state?.watchdogs ?? [], scene.nowMs).length
  const text = known > 0 ? 'the limits of the streams are not known yet' : 'no stream has a time limit'
  return emptyRows({ ...area, rows: 1 }, text, [], 'dim')
}

/** One row per watchdog, running ones first; the last row counts those without room. */
function watchdogTable({ data, nowMs, state }: Scene, area: Area): ScreenRow[] {
  const watchdogs = (data.watchdog.state?.watchdogs ?? []).toSorted(byLiveness(nowMs))
  const columns = placeColumns(COLUMNS, area.columns)
  const room = Math.max(1, area.rows - 1)
  const shown = watchdogs.slice(0, watchdogs.length > room ? Math.max(1, room - 1) : room)
  const rows = shown.map(watchdog => listRow(columns, watchdog, screenFormat(nowMs, state.time)))
  const rest = watchdogs.length - shown.length
  const more = rest === 0 ? [] : [rowOf([[`   and ${spacedCount(rest)} more`, 'dim']], area.columns)]
  return [titleRow(columns), ...rows, ...more]
}

/** Problems that keep running watchdogs from working, a row each. */
function problemRows({ data, nowMs, state }: Scene, { columns }: Area): ScreenRow[] {
  const { watchdogs = [], damaged = false } = data.watchdog.state ?? {}
  const problems = problemsOf(watchdogs, screenFormat(nowMs, state.time))
  const all = [
    ...problems,
    ...(damaged ? ['part of the watchdog state cannot be read'] : []),
    ...unwatchedText(data.watchdog, nowMs),
  ]
  return all.map(problem => rowOf([[` ! ${problem}`, 'bad']], columns))
}

function unwatchedText({ state }: Pick<WatchdogView, 'state'>, nowMs: number): readonly string[] {
  const stores = unwatchedStores(state, nowMs)
  if (stores.length === 0) return []
  const where = state?.stores === undefined ? '' : ` in ${safeText(stores.join(', '))}`
  return [`no watchdog is running${where}: nothing of this happens${where === '' ? '' : ' there'}`]
}

function watchdogText({ store, host, pid }: WatchdogOfStore): string {
  return safeText(`${store === undefined ? '' : `${store}: `}${host}:${pid}`)
}

/** Delay of its next pass. */
function lagCell(watchdog: WatchdogEntry, { nowMs }: RowTime): Cell {
  if (watchdog.lastSweepMs === undefined || livenessOf(watchdog, nowMs) === 'stopped') return '-'
  const lagMs = nowMs - watchdog.lastSweepMs - Math.max(watchdog.intervalMs, watchdog.tookMs)
  // A pass takes time, and its state is read up to a poll later.
  return lagMs < 5_000 ? '-' : { text: calmSpan(lagMs), style: lagMs > 3 * watchdog.intervalMs ? 'warn' : 'plain' }
}

const { state, lastSweep, every, took, watched, overdue, ended, breaker, shards } = WATCHDOG_FIELDS

const COLUMNS: readonly ListColumn<WatchdogOfStore>[] = [
  { ...state, width: 9 },
  { title: 'WATCHDOG', width: 14, share: 1, cut: 'middle', cell: watchdogText },
  { ...lastSweep, title: 'LAST PASS', width: 10 },
  { title: 'LAG', align: 'right', width: 6, spare: 1, cell: lagCell },
  { ...every, width: 5, from: PANES_COLUMNS, spare: 4 },
  { ...took, width: 6, from: WIDE_COLUMNS, spare: 6 },
  { ...watched, width: 7, from: PANES_COLUMNS, spare: 3 },
  { ...overdue, width: 7, from: PANES_COLUMNS, spare: 2 },
  { ...ended, width: 6, from: WIDE_COLUMNS, spare: 5 },
  { ...breaker, width: 7, from: WIDE_COLUMNS, spare: 5 },
  { ...shards, width: 8, share: 1, from: WIDE_COLUMNS, spare: 6 },
]

/** The soonest limits, with the cursor. */
function nextRows(scene: Scene, area: Area): ScreenRow[] {
  const format = screenFormat(scene.nowMs, scene.state.time)
  const isPlanned = scene.data.watchdog.dryRun?.kind === 'done'
  const hasTitles = !isTiny(scene)
  const { keys, cursor } = listWindow(scene, area.rows - (hasTitles ? 1 : 0))
  const rows = keys.map(key => {
    const item = limitRow(scene.data.watchdog, key) ?? goneLimit(key)
    return { item, marks: marksOf(scene, key, cursor), key }
  })
  const options = { columns: area.columns, format, widths: scene.widths, hasTitles }
  return tableRows(isPlanned ? [...LIMITS, PLANNED] : LIMITS, rows, options)
}

/** A row still in the list whose limit is no longer in the data. */
function goneLimit(key: string): LimitRow {
  const [stream = '', event] = key.split('\n')
  const none = { dueMs: undefined, limit: undefined, isNotified: false, planned: undefined }
  return { key, stream, event, name: '', ...none }
}

/** The last decisions of all watchdogs, the latest first. */
function decisionRows({ data, nowMs, state }: Scene, area: Area): ScreenRow[] {
  const latest = latestDecisions(data.watchdog.state?.watchdogs ?? [])
  if (latest.length === 0) return []
  const columns = placeColumns(DECISIONS, area.columns)
  const format = screenFormat(nowMs, state.time)
  return [titleRow(columns), ...latest.slice(0, area.rows - 1).map(decision => listRow(columns, decision, format))]
}

/** How the requested dry run stands, above the list that has its decisions. */
function dryRunRows({ data, nowMs, state }: Scene, area: Area): ScreenRow[] {
  const { dryRun } = data.watchdog
  if (dryRun === undefined) return []
  const style = dryRun.kind === 'failed' ? 'bad' : 'strong'
  const head = rowOf([[`   ${dryRunTitle(dryRun, { nowMs, time: state.time })}`, style]], area.columns)
  if (dryRun.kind !== 'done') return [head]
  const { breaker, fault } = dryRun
  const warnings = [
    ...(breaker === undefined ? [] : [`the circuit breaker would stop it: ${breaker}`]),
    ...(fault === undefined ? [] : [fault]),
  ]
  return [head, ...warnings.map(text => rowOf([[`   ! ${safeText(text)}`, 'bad']], area.columns))]
}

function dryRunTitle(dryRun: DryRun, moment: RowTime): string {
  switch (dryRun.kind) {
    case 'running':
      return `dry run: running for ${calmSpan(moment.nowMs - dryRun.sinceMs)} …`
    case 'failed':
      return `dry run failed: ${safeText(dryRun.message)}`
    case 'done': {
      const { total, tookMs, atMs, decisions } = dryRun
      const what = total === 0 ? 'nothing to do' : spacedCounted(total, 'decision')
      const shown = total > decisions.length ? `, the first ${spacedCount(decisions.length)} are below` : ''
      return `dry run ${pastText(atMs, moment)}: ${what}${shown}, took ${tookText(tookMs)}; nothing was changed`
    }
    default:
      return dryRun satisfies never
  }
}

/** Of a limit that was only told of, how long ago. */
function limitDueCell({ dueMs, isNotified }: LimitRow, format: CellFormat): Cell {
  if (dueMs === undefined) return '-'
  return isNotified ? { text: format.past(dueMs), style: 'dim' } : format.due(dueMs)
}

function willCell({ limit, isNotified, isUnknown, planned }: LimitRow): Cell {
  if (isNotified) return { text: 'notified', style: 'dim' }
  const action = limit?.action ?? planned?.action
  if (action !== undefined) return actionCell(action)
  return isUnknown ? { text: '? unreadable', style: 'warn' } : { text: '…', style: 'dim' }
}

function limitText({ limit }: LimitRow, format: CellFormat): string {
  return limit === undefined ? '-' : format.text(`${limit.timeout} ${limit.kind}`)
}

/** What the dry run would do: `now` for what the row says, with the number of events that it ends. */
function plannedCell({ planned, limit }: LimitRow): Cell {
  if (planned === undefined) return { text: '-', style: 'dim' }
  const { text, style } = styled(actionCell(planned.action))
  const what = planned.action === limit?.action ? 'now' : text
  return { text: planned.ends > 1 ? `${what}, ends ${spacedCount(planned.ends)}` : what, style }
}

function styled(cell: Cell): Exclude<Cell, string> {
  return typeof cell === 'string' ? { text: cell, style: 'plain' } : cell
}

const LIMITS: readonly FlexColumn<LimitRow>[] = [
  { title: 'DUE', cell: limitDueCell },
  { title: 'WILL', spare: 1, cell: willCell },
  { title: 'STREAM', least: 8, cut: 'middle', cell: ({ stream }, format) => format.name(stream) },
  {
    title: 'EVENT',
    least: 8,
    spare: 2,
    cell: ({ event = '', name }, format) => format.text(`${event} ${name}`.trim()) || '-',
  },
  { title: 'LIMIT', least: 10, spare: 3, cell: limitText },
]

const PLANNED: FlexColumn<LimitRow> = { title: 'DRY RUN', least: 12, spare: 4, cell: plannedCell }

const DECISIONS: readonly ListColumn<RecordedDecision>[] = [
  { ...DECISION_FIELDS.when, title: 'DECIDED', width: 10 },
  { ...DECISION_FIELDS.outcome, width: 11 },
  { ...DECISION_FIELDS.stream, width: 12, share: 2 },
  { ...DECISION_FIELDS.event, width: 8, share: 1, spare: 2 },
  { ...DECISION_FIELDS.limit, width: 9, from: PANES_COLUMNS, spare: 1 },
  { ...DECISION_FIELDS.late, width: 7, from: PANES_COLUMNS, spare: 3 },
]

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
import { sortOf, type TitleOf } from '../state/columns.ts'
import type { Scene } from '../state/context.ts'
import { type RowKeys, sortedRows } from '../state/lists/sorting.ts'
import type { SideList } from '../state/state.ts'
import { columnsOf } from './columns-of.ts'
import { emptyRows, noMatch, waitingRows } from './empty.ts'
import { type Area, BLANK, filled, rowOf, type ScreenRow } from './row.ts'
import { safeText } from './safe-text.ts'
import { isTiny, marksOf } from './streams.ts'
import { type FlexColumn, type TableRow, tableRows } from './table.ts'
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
function watchdogTable(scene: Scene, area: Area): ScreenRow[] {
  const { data, nowMs } = scene
  const usual = (data.watchdog.state?.watchdogs ?? []).toSorted(byLiveness(nowMs))
  const watchdogs = sideRows(scene, 'watchdogs', usual, WATCHDOG_KEYS)
  const room = Math.max(1, area.rows - 1)
  const shown = watchdogs.slice(0, watchdogs.length > room ? Math.max(1, room - 1) : room)
  const rest = watchdogs.length - shown.length
  const more = rest === 0 ? [] : [rowOf([[`   and ${spacedCount(rest)} more`, 'dim']], area.columns)]
  return [...sideTable(scene, 'watchdogs', COLUMNS, shown, area), ...more]
}

/** The rows of a list beside that with the cursor, in its order. */
function sideRows<Row>({ state, nowMs }: Scene, list: SideList, rows: readonly Row[], keys: RowKeys<Row>) {
  const { by, isDescending } = sortOf(state, list)
  return sortedRows(rows, keys[by], isDescending, nowMs)
}

function sideTable<Row>(
  scene: Scene,
  list: SideList,
  columns: Readonly<Record<string, Omit<FlexColumn<Row>, 'title'>>>,
  rows: readonly Row[],
  area: Area,
): ScreenRow[] {
  const format = screenFormat(scene.nowMs, scene.state.time)
  const options = { columns: area.columns, format, widths: scene.widths, hasTitles: true, list }
  const items = rows.map((item): TableRow<Row> => ({ item, marks: {} }))
  return tableRows(columnsOf(scene, list, columns), items, options)
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

const COLUMNS: { readonly [Title in TitleOf<'watchdogs'>]: Omit<FlexColumn<WatchdogOfStore>, 'title'> } = {
  STATE: state,
  WATCHDOG: { least: 14, cut: 'middle', cell: watchdogText },
  'LAST PASS': lastSweep,
  LAG: { align: 'right', spare: 1, cell: lagCell },
  EVERY: { ...every, spare: 4 },
  TOOK: { ...took, spare: 6 },
  WATCHED: { ...watched, spare: 3 },
  OVERDUE: { ...overdue, spare: 2 },
  ENDED: { ...ended, spare: 5 },
  BREAKER: { ...breaker, spare: 5 },
  SHARDS: { ...shards, least: 8, spare: 6 },
}

/** The usual order is by state: running ones first. */
const WATCHDOG_KEYS: RowKeys<WatchdogEntry> = {
  watchdog: ({ host, pid }) => `${host}:${pid}`,
  pass: ({ lastSweepMs }) => lastSweepMs && -lastSweepMs,
  every: ({ intervalMs }) => intervalMs,
  took: ({ tookMs }) => -tookMs,
  watched: ({ lastPass }) => lastPass && -lastPass.watched,
  overdue: ({ lastPass }) => lastPass && -lastPass.overdue,
  ended: ({ totals }) => -totals.ended,
  breaker: ({ breaker }) => (breaker?.isOpen ? 0 : 1),
}

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
  const options = { columns: area.columns, format, widths: scene.widths, hasTitles, list: 'watchdog' } as const
  const columns = columnsOf(scene, 'watchdog', LIMITS).filter(({ title }) => isPlanned || !title.startsWith('DRY RUN'))
  return tableRows(columns, rows, options)
}

/** A row still in the list whose limit is no longer in the data. */
function goneLimit(key: string): LimitRow {
  const [stream = '', event] = key.split('\n')
  const none = { dueMs: undefined, limit: undefined, isNotified: false, planned: undefined }
  return { key, stream, event, name: '', ...none }
}

/** The last decisions of all watchdogs. */
function decisionRows(scene: Scene, area: Area): ScreenRow[] {
  const latest = latestDecisions(scene.data.watchdog.state?.watchdogs ?? [])
  if (latest.length === 0) return []
  const rows = sideRows(scene, 'decisions', latest, DECISION_KEYS).slice(0, area.rows - 1)
  return sideTable(scene, 'decisions', DECISIONS, rows, area)
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

const LIMITS: { readonly [Title in TitleOf<'watchdog'>]: Omit<FlexColumn<LimitRow>, 'title'> } = {
  DUE: { cell: limitDueCell },
  WILL: { spare: 1, cell: willCell },
  STREAM: { least: 8, cut: 'middle', cell: ({ stream }, format) => format.name(stream) },
  EVENT: {
    least: 8,
    spare: 2,
    cell: ({ event = '', name }, format) => format.text(`${event} ${name}`.trim()) || '-',
  },
  LIMIT: { least: 10, spare: 3, cell: limitText },
  'DRY RUN': { least: 12, spare: 4, cell: plannedCell },
}

const { when, outcome, stream, event, limit, late } = DECISION_FIELDS

const DECISIONS: { readonly [Title in TitleOf<'decisions'>]: Omit<FlexColumn<RecordedDecision>, 'title'> } = {
  DECIDED: when,
  OUTCOME: outcome,
  STREAM: { ...stream, least: 12 },
  EVENT: { ...event, least: 8, spare: 2 },
  LIMIT: { ...limit, least: 9, spare: 1 },
  LATE: { ...late, spare: 3 },
}

/** The usual order is the latest first. */
const DECISION_KEYS: RowKeys<RecordedDecision> = {
  outcome: ({ outcome }) => outcome,
  stream: ({ stream }) => stream,
  event: ({ event }) => event,
  limit: ({ limit }) => limit,
  late: ({ atMs, dueMs }) => dueMs && dueMs - atMs,
}

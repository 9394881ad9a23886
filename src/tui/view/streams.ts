import { STREAM_FIELDS } from '../../formats/listing/columns.ts'
import { stateStyle, streamStateOf } from '../../formats/listing/health.ts'
import { cutInside, widthOf } from '../../formats/terminal/width.ts'
import { type ActivityRate, rateNow } from '../data/activity-rate.ts'
import { CHANGE_SHOWN_MS, type StreamEntry } from '../data/types.ts'
import type { TitleOf } from '../state/columns.ts'
import type { Scene } from '../state/context.ts'
import { layoutOf } from '../state/layout.ts'
import { filterOf } from '../state/lists/filters.ts'
import type { ColumnList } from '../state/state.ts'
import { columnsOf } from './columns-of.ts'
import { noStreams } from './empty.ts'
import { withHiddenMatch } from './hidden-match.ts'
import { type Area, filled, type ScreenRow } from './row.ts'
import { safeName, safeText } from './safe-text.ts'
import { ageCell, barSpans, causeCell, failedSpans, progressCell, stateCell } from './stream-cells.ts'
import { type FlexColumn, gutter, highlightOf, type RowMarks, type TableRow, tableRows } from './table.ts'
import { screenFormat } from './times.ts'
import { listWindow } from './window.ts'

/** The list of streams, with its titles if the screen has them. */
export function streamRows(scene: Scene, area: Area): ScreenRow[] {
  if (scene.listing.keys.length === 0) return filled(noStreams(scene, area), area)
  const filter = filterOf(scene.state)
  const why = COLUMNS['WAITS / WHY']
  const columns = filter.isEmpty
    ? COLUMNS
    : { ...COLUMNS, 'WAITS / WHY': { ...why, cell: withHiddenMatch(why.cell, filter) } }
  return entryRows(scene, area, 'streams', columnsOf(scene, 'streams', columns))
}

/** A list whose keys are names of streams, in these columns. */
export function entryRows(
  scene: Scene,
  area: Area,
  list: ColumnList,
  columns: readonly FlexColumn<StreamEntry>[],
): ScreenRow[] {
  const hasTitles = !isTiny(scene)
  const { keys, cursor } = listWindow(scene, area.rows - (hasTitles ? 1 : 0))
  const rows = keys.map((key): TableRow<StreamEntry> => {
    const entry = scene.data.streams.get(key)
    const marks = marksOf(scene, key, cursor)
    if (entry === undefined) return { row: goneRow(key, marks, area.columns) }
    if (!hasTitles) return { row: shortRow(entry, marks, area.columns, scene.nowMs) }
    return { item: entry, marks, previous: previousEntry(entry, scene.nowMs) }
  })
  const format = screenFormat(scene.nowMs, scene.state.time)
  return filled(
    tableRows(columns, rows, { columns: area.columns, format, widths: scene.widths, hasTitles, list }),
    area,
  )
}

/** The entry as it was before the changes of the last second. */
function previousEntry(entry: StreamEntry, nowMs: number): StreamEntry | undefined {
  const { previous } = entry
  if (previous === undefined || nowMs >= previous.atMs + CHANGE_SHOWN_MS) return undefined
  return { ...entry, item: previous.item }
}

/** There is room for little more than names. */
export function isTiny({ state }: Pick<Scene, 'state'>): boolean {
  return layoutOf(state).isTiny
}

/** How a row of the current list is highlighted. */
export function marksOf({ state, listing }: Scene, key: string, cursor: string | undefined): RowMarks {
  return {
    isCursor: key === cursor,
    isMarked: state.lists[state.screen].marks.has(key),
    isFaint: listing.isFaint(key),
  }
}

/** A row with room for the name only, after the glyph of its status. */
function shortRow({ name, item, isRead }: StreamEntry, marks: RowMarks, columns: number, nowMs: number): ScreenRow {
  const { summary } = item
  const isUnknown = !isRead && summary === undefined
  const state = stateStyle(summary === undefined ? '' : streamStateOf(summary, nowMs))
  const { glyph, style } = isUnknown ? { glyph: '…', style: 'dim' as const } : state
  const [sign, ...rest] = gutter(marks)
  const front = `${sign?.[0].slice(0, 1) ?? ''}${rest.length > 0 ? '•' : ''}`
  const room = columns - widthOf(front) - 2
  if (room < 1) return { spans: [[front.slice(0, Math.max(0, columns)), 'plain']], ...highlightOf(marks) }
  return {
    spans: [
      [front, 'plain'],
      [glyph.slice(-1), style],
      [` ${cutInside(safeName(name), room)}`, 'plain'],
    ],
    ...highlightOf(marks),
  }
}

/** A row still in the list whose stream is no longer in the data. */
function goneRow(key: string, marks: RowMarks, columns: number): ScreenRow {
  const text = cutInside(safeText(key), Math.max(0, columns - 11))
  return {
    spans: [...gutter(marks), [`${text}  ✗ gone`.slice(0, Math.max(0, columns - 3)), 'dim']],
    ...highlightOf(marks),
  }
}

const { name, due, lease, version, root, key, topic, modified, lastBy, lastFailure } = STREAM_FIELDS

const COLUMNS: { readonly [Title in TitleOf<'streams'>]: Omit<FlexColumn<StreamEntry>, 'title'> } = {
  NAME: { ...name, least: 20 },
  STATUS: { cell: stateCell },
  BAR: { cell: () => '', spans: barSpans, spare: 7, isSteady: true },
  PROGRESS: { align: 'right', cell: progressCell, spare: 2 },
  FAILED: { cell: () => '', spans: failedSpans, spare: 1 },
  'WAITS / WHY': { cell: causeCell, least: 12, isText: true, spare: 4 },
  DUE: { ...due, align: 'right', spare: 3 },
  AGE: { align: 'right', cell: ageCell, spare: 5 },
  LEASE: { ...lease, least: 8, spare: 8 },
  CHANGES: { cell: (entry, { nowMs }) => ({ text: sparkline(entry, nowMs), style: 'active' }), spare: 9 },
  VERSION: { ...version, spare: 10 },
  ROOT: { ...root, least: 8, spare: 11 },
  KEY: { ...key, least: 8, spare: 11 },
  TOPIC: { ...topic, least: 8, spare: 12 },
  CHANGED: { ...modified, align: 'right', cell: ({ item }, format) => format.age(item.listed.modifiedMs), spare: 11 },
  'LAST BY': { ...lastBy, least: 8, spare: 11 },
  FAILURE: { ...lastFailure, least: 12, isText: true, spare: 12 },
}

export const BARS = '▁▂▃▄▅▆▇█'

/**
 * Recent changes as a bar per time slot, the latest at the right; `''` without changes. The scale is the same for all
 * streams and doubles from bar to bar, so that rows are comparable and a peak shrinks nothing.
 */
export function sparkline(rate: ActivityRate, nowMs: number): string {
  const counts = rateNow(rate, nowMs)
  return counts.every(count => count === 0) ? '' : counts.map(barOf).join('')
}

function barOf(count: number): string {
  const level = count < 1 ? 0 : Math.min(BARS.length - 1, 1 + Math.floor(Math.log2(count)))
  return BARS.charAt(level)
}

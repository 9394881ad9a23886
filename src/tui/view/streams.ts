import { STREAM_FIELDS } from '../../formats/listing/columns.ts'
import { stateStyle, streamStateOf } from '../../formats/listing/health.ts'
import { cutInside, widthOf } from '../../formats/terminal/width.ts'
import { type ActivityRate, rateNow } from '../data/activity-rate.ts'
import { CHANGE_SHOWN_MS, type StreamEntry } from '../data/types.ts'
import type { Scene } from '../state/context.ts'
import { layoutOf, PANES_COLUMNS, WIDE_COLUMNS } from '../state/layout.ts'
import { gutter, highlightOf, type ListColumn, listRow, placeColumns, type RowMarks, titleRow } from './columns.ts'
import { noStreams } from './empty.ts'
import { type Area, filled, type ScreenRow } from './row.ts'
import { safeName, safeText } from './safe-text.ts'
import { causeCell, progressSpans, stateCell } from './stream-cells.ts'
import { AGE_WIDTH, DUE_WIDTH, screenFormat } from './times.ts'
import { listWindow } from './window.ts'

/** The list of streams, with its titles if the screen has them. */
export function streamRows(scene: Scene, area: Area): ScreenRow[] {
  if (scene.listing.keys.length === 0) return filled(noStreams(scene, area), area)
  return entryRows(scene, area, scene.state.isWide ? WIDE : USUAL)
}

/** A list whose keys are names of streams, in these columns. */
export function entryRows(scene: Scene, area: Area, all: readonly ListColumn<StreamEntry>[]): ScreenRow[] {
  const format = screenFormat(scene.nowMs, scene.state.time)
  const columns = placeColumns(all, area.columns)
  const titles = isTiny(scene) ? [] : [titleRow(columns)]
  const { keys, cursor } = listWindow(scene, area.rows - titles.length)
  const rows = keys.map(key => {
    const entry = scene.data.streams.get(key)
    const marks = marksOf(scene, key, cursor)
    if (entry === undefined) return goneRow(key, marks, area.columns)
    if (isTiny(scene)) return shortRow(entry, marks, area.columns, scene.nowMs)
    return listRow(columns, entry, format, marks, previousEntry(entry, scene.nowMs))
  })
  return filled([...titles, ...rows], area)
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

const { name, due, age, lease, version, root, key, topic, modified, lastBy, lastFailure } = STREAM_FIELDS

const USUAL: readonly ListColumn<StreamEntry>[] = [
  { ...name, width: 16, share: 6 },
  { title: 'STATUS', width: 14, spare: 1, cell: stateCell },
  { title: 'PROGRESS', width: 15, from: PANES_COLUMNS, cell: () => '', spans: progressSpans },
  { title: 'WAITS / WHY', width: 12, share: 5, from: WIDE_COLUMNS, spare: 7, cell: causeCell },
  { ...due, align: 'right', width: DUE_WIDTH, spare: 2 },
  { ...age, width: AGE_WIDTH, spare: 6 },
  { ...lease, width: 9, share: 1, from: WIDE_COLUMNS, spare: 8 },
  {
    title: 'CHANGES',
    width: 8,
    from: WIDE_COLUMNS,
    spare: 9,
    cell: (entry, { nowMs }) => ({ text: sparkline(entry, nowMs), style: 'active' }),
  },
]

const BARS = '▁▂▃▄▅▆▇█'

/** If not all fit, columns that `w` did not add are dropped first. */
const WIDE: readonly ListColumn<StreamEntry>[] = [
  ...USUAL.map(column => (column.title === name.title ? { ...column, width: 22 } : column)),
  { ...version, width: 7, from: PANES_COLUMNS, spare: 2 },
  { ...root, width: 11, share: 1, from: PANES_COLUMNS, spare: 3 },
  { ...key, width: 8, share: 1, from: PANES_COLUMNS, spare: 4 },
  { ...topic, width: 8, share: 1, from: PANES_COLUMNS, spare: 5 },
  {
    ...modified,
    align: 'right',
    width: AGE_WIDTH,
    from: PANES_COLUMNS,
    spare: 4,
    cell: ({ item }, format) => format.age(item.listed.modifiedMs),
  },
  { ...lastBy, title: 'LAST BY', width: 9, share: 1, from: PANES_COLUMNS, spare: 4 },
  { ...lastFailure, title: 'FAILURE', width: 12, share: 3, from: PANES_COLUMNS, spare: 5 },
]

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

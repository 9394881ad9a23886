import { faultText, idsText, statusWord, styleOf } from '../../formats/stream/view.ts'
import type { Cell } from '../../formats/terminal/table.ts'
import { cutInside, widthOf } from '../../formats/terminal/width.ts'
import { isHeld } from '../../stream/lease.ts'
import type { Summary } from '../../stream/summary.ts'
import { type ActivityRate, rateNow } from '../data/activity-rate.ts'
import type { StreamEntry } from '../data/types.ts'
import type { Scene } from '../state/context.ts'
import { layoutOf, PANES_COLUMNS, WIDE_COLUMNS } from '../state/layout.ts'
import {
  gutter,
  highlightOf,
  type ListColumn,
  listRow,
  placeColumns,
  type RowMarks,
  type RowTime,
  titleRow,
} from './columns.ts'
import { noStreams } from './empty.ts'
import { type Area, filled, type ScreenRow } from './row.ts'
import { safeName, safeText } from './safe-text.ts'
import { AGE_WIDTH, agoText, DUE_WIDTH, dueCell } from './times.ts'
import { listWindow } from './window.ts'

/** The list of streams, with its titles if the screen has them. */
export function streamRows(scene: Scene, area: Area): ScreenRow[] {
  if (scene.listing.keys.length === 0) return filled(noStreams(scene, area), area)
  return entryRows(scene, area, scene.state.isWide ? WIDE : USUAL)
}

/** A list whose keys are names of streams, in these columns. */
export function entryRows(scene: Scene, area: Area, all: readonly ListColumn<StreamEntry>[]): ScreenRow[] {
  const moment = { nowMs: scene.nowMs, time: scene.state.time }
  const columns = placeColumns(all, area.columns)
  const titles = isTiny(scene) ? [] : [titleRow(columns)]
  const { keys, cursor } = listWindow(scene, area.rows - titles.length)
  const rows = keys.map(key => {
    const entry = scene.data.streams.get(key)
    const marks = marksOf(scene, key, cursor)
    if (entry === undefined) return goneRow(key, marks, area.columns)
    return isTiny(scene) ? shortRow(entry, marks, area.columns) : listRow(columns, entry, moment, marks)
  })
  return filled([...titles, ...rows], area)
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
function shortRow({ name, item, isRead }: StreamEntry, marks: RowMarks, columns: number): ScreenRow {
  const isUnknown = !isRead && item.summary === undefined
  const status = isUnknown ? { glyph: '…', style: 'dim' as const } : styleOf(item.summary?.status ?? '')
  const [sign, ...rest] = gutter(marks)
  const front = `${sign?.[0].slice(0, 1) ?? ''}${rest.length > 0 ? '•' : ''}`
  const room = columns - widthOf(front) - 2
  if (room < 1) return { spans: [[front.slice(0, Math.max(0, columns)), 'plain']], ...highlightOf(marks) }
  return {
    spans: [
      [front, 'plain'],
      [status.glyph, status.style],
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

const NAME: ListColumn<StreamEntry> = {
  title: 'NAME',
  width: 16,
  share: 5,
  cut: 'middle',
  cell: ({ name }) => safeName(name),
}
const STATUS: ListColumn<StreamEntry> = { title: 'STATUS', width: 14, spare: 1, cell: statusCell }
const PROGRESS: ListColumn<StreamEntry> = {
  title: 'DONE/OPEN/✗',
  align: 'right',
  width: 11,
  from: PANES_COLUMNS,
  cell: progressCell,
}
const WAITING: ListColumn<StreamEntry> = {
  title: 'WAITING ON',
  width: 12,
  share: 3,
  from: WIDE_COLUMNS,
  spare: 7,
  cell: waitingCell,
}
const DUE: ListColumn<StreamEntry> = { title: 'DUE', align: 'right', width: DUE_WIDTH, spare: 2, cell: dueOf }
const AGE: ListColumn<StreamEntry> = { title: 'AGE', align: 'right', width: AGE_WIDTH, spare: 6, cell: ageOf }
const LEASE: ListColumn<StreamEntry> = {
  title: 'LEASE',
  width: 9,
  share: 1,
  from: WIDE_COLUMNS,
  spare: 8,
  cell: leaseCell,
}
const CHANGES: ListColumn<StreamEntry> = {
  title: 'CHANGES',
  width: 8,
  from: WIDE_COLUMNS,
  spare: 9,
  cell: (entry, { nowMs }) => ({ text: sparkline(entry, nowMs), style: 'active' }),
}

const USUAL: readonly ListColumn<StreamEntry>[] = [NAME, STATUS, PROGRESS, WAITING, DUE, AGE, LEASE, CHANGES]

const BARS = '▁▂▃▄▅▆▇█'

/** If not all fit, columns that `w` did not add are dropped first. */
const WIDE: readonly ListColumn<StreamEntry>[] = [
  ...USUAL.map(column => (column === NAME ? { ...NAME, width: 22 } : column)),
  extra('VERSION', 7, 2, { align: 'right', cell: textOf(({ version }) => String(version)) }),
  extra('ROOT', 11, 3, { share: 1, cell: textOf(({ root }) => root) }),
  extra('KEY', 8, 4, { share: 1, cell: textOf(({ key }) => key) }),
  extra('TOPIC', 8, 5, { share: 1, cell: textOf(({ topic }) => topic) }),
  extra('CHANGED', AGE_WIDTH, 4, {
    align: 'right',
    cell: ({ item }, moment) => agoText(item.listed.modifiedMs, moment),
  }),
  extra('LAST BY', 9, 4, { share: 1, cell: textOf(({ lastBy }) => lastBy) }),
  extra('FAILURE', 12, 5, { share: 3, cell: textOf(failure) }),
]

function failure({ failedId, failure: text }: { readonly failedId: string; readonly failure: string }): string {
  return [failedId, text].filter(part => part !== '').join(' ')
}

function extra(
  title: string,
  width: number,
  spare: number,
  rest: Omit<ListColumn<StreamEntry>, 'title' | 'width' | 'spare' | 'from'>,
): ListColumn<StreamEntry> {
  return { title, width, spare, from: PANES_COLUMNS, ...rest }
}

/** A glyph and a word. `…` while unknown; the error code if unreadable. */
export function statusCell({ item: { summary, fault }, isRead }: StreamEntry): Cell {
  if (summary === undefined && !isRead) return { text: '…', style: 'dim' }
  if (summary === undefined) return { text: safeText(`? ${fault?.code ?? 'not started'}`), style: 'warn' }
  const { glyph, style } = styleOf(summary.status)
  const hasErrors = summary.outcome === 'errors' && summary.status === 'completed'
  if (hasErrors) return { text: `${glyph} with errors`, style: 'warn' }
  return { text: `${glyph} ${safeText(statusWord(summary.status))}`, style }
}

/** Completed, open, failed: their sum is all events that count. */
function progressCell(entry: StreamEntry): Cell {
  return known(entry, ({ total, open, failed }) => {
    const text = `${total - open - failed}/${open}/${failed}`
    return failed > 0 ? { text, style: 'bad' } : text
  })
}

/** What the stream waits on, or why it cannot be read. */
function waitingCell(entry: StreamEntry): Cell {
  const fault = faultText(entry.item)
  if (fault !== undefined) return { text: safeText(fault), style: 'warn' }
  return known(entry, ({ waitingOn }) => safeText(idsText(waitingOn, 3)) || '-')
}

function dueOf(entry: StreamEntry, moment: RowTime): Cell {
  return known(entry, ({ dueMs }) => dueCell(dueMs, moment))
}

function ageOf(entry: StreamEntry, moment: RowTime): Cell {
  return known(entry, ({ createdMs }) => agoText(createdMs, moment))
}

/** The holder of the lease. Azure only reports that it is held. */
function leaseCell({ item: { listed } }: StreamEntry): Cell {
  const { state, holder } = listed.lease
  if (!isHeld(listed.lease)) return '-'
  return { text: holder === undefined ? state : safeText(holder.by), style: 'warn' }
}

/** A text of the summary. */
function textOf(read: (summary: Summary) => string): (entry: StreamEntry) => Cell {
  return entry => known(entry, summary => safeText(read(summary)) || '-')
}

/** A value of the summary, possibly outdated while a newer one is read; `…` before the first, `?` if unreadable. */
function known({ item: { summary, fault }, isRead }: StreamEntry, read: (summary: Summary) => Cell): Cell {
  if (summary !== undefined) return read(summary)
  if (!isRead) return { text: '…', style: 'dim' }
  return fault === undefined ? '-' : '?'
}

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

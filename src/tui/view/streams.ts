import { lookOf } from '../../formats/stream/status.ts'
import { cutInside, widthOf } from '../../formats/terminal/width.ts'
import type { StreamEntry } from '../data/types.ts'
import type { Scene } from '../state/context.ts'
import { layoutOf, PANES_COLUMNS, WIDE_COLUMNS } from '../state/layout.ts'
import { gutter, type ListColumn, listRow, lookOfRow, placed, type RowMarks, titleRow } from './columns.ts'
import { noStreams } from './empty.ts'
import { filled } from './fit.ts'
import type { Area, Row } from './row.ts'
import { safeName, safeText } from './safe-text.ts'
import { sparkline } from './sparkline.ts'
import * as cells from './stream-cells.ts'
import { AGE_WIDTH, agoText, DUE_WIDTH } from './times.ts'
import { listWindow } from './window.ts'

/** The list of streams, its titles included where the screen has them. */
export function streamRows(scene: Scene, area: Area): Row[] {
  if (scene.listing.keys.length === 0) return filled(noStreams(scene, area), area)
  return entryRows(scene, area, scene.state.isWide ? WIDE : USUAL)
}

/** A list whose keys are names of streams, in these columns. */
export function entryRows(scene: Scene, area: Area, all: readonly ListColumn<StreamEntry>[]): Row[] {
  const moment = { nowMs: scene.nowMs, time: scene.state.time }
  const columns = placed(all, area.columns)
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

/** There is room for a list of names and little more. */
export function isTiny({ state }: Pick<Scene, 'state'>): boolean {
  return layoutOf(state).isTiny
}

/** How a row of the current list stands out. */
export function marksOf({ state, listing }: Scene, key: string, cursor: string | undefined): RowMarks {
  return {
    isCursor: key === cursor,
    isMarked: state.lists[state.screen].marks.has(key),
    isFaint: listing.isFaint(key),
  }
}

/** Where there is room for the name only: the glyph of its status in front. */
function shortRow({ name, item, isRead }: StreamEntry, marks: RowMarks, columns: number): Row {
  const isUnknown = !isRead && item.summary === undefined
  const look = isUnknown ? { glyph: '…', style: 'dim' as const } : lookOf(item.summary?.status ?? '')
  const [sign, ...rest] = gutter(marks)
  const front = `${sign?.[0].slice(0, 1) ?? ''}${rest.length > 0 ? '•' : ''}`
  const room = columns - widthOf(front) - 2
  if (room < 1) return { spans: [[front.slice(0, Math.max(0, columns)), 'plain']], ...lookOfRow(marks) }
  return {
    spans: [
      [front, 'plain'],
      [look.glyph, look.style],
      [` ${cutInside(safeName(name), room)}`, 'plain'],
    ],
    ...lookOfRow(marks),
  }
}

/** A row that is in the list still and not in the data any more. */
function goneRow(key: string, marks: RowMarks, columns: number): Row {
  const text = cutInside(safeText(key), Math.max(0, columns - 11))
  return {
    spans: [...gutter(marks), [`${text}  ✗ gone`.slice(0, Math.max(0, columns - 3)), 'dim']],
    ...lookOfRow(marks),
  }
}

const NAME: ListColumn<StreamEntry> = {
  title: 'NAME',
  width: 16,
  share: 5,
  cut: 'middle',
  cell: ({ name }) => safeName(name),
}
const STATUS: ListColumn<StreamEntry> = { title: 'STATUS', width: 14, spare: 1, cell: cells.statusCell }
const PROGRESS: ListColumn<StreamEntry> = {
  title: 'DONE/OPEN/✗',
  align: 'right',
  width: 11,
  from: PANES_COLUMNS,
  cell: cells.progressCell,
}
const WAITING: ListColumn<StreamEntry> = {
  title: 'WAITING ON',
  width: 12,
  share: 3,
  from: WIDE_COLUMNS,
  spare: 7,
  cell: cells.waitingCell,
}
const DUE: ListColumn<StreamEntry> = { title: 'DUE', align: 'right', width: DUE_WIDTH, spare: 2, cell: cells.dueOf }
const AGE: ListColumn<StreamEntry> = { title: 'AGE', align: 'right', width: AGE_WIDTH, spare: 6, cell: cells.ageOf }
const LEASE: ListColumn<StreamEntry> = {
  title: 'LEASE',
  width: 9,
  share: 1,
  from: WIDE_COLUMNS,
  spare: 8,
  cell: cells.leaseCell,
}
const CHANGES: ListColumn<StreamEntry> = {
  title: 'CHANGES',
  width: 8,
  from: WIDE_COLUMNS,
  spare: 9,
  cell: (entry, { nowMs }) => ({ text: sparkline(entry, nowMs), style: 'active' }),
}

const USUAL: readonly ListColumn<StreamEntry>[] = [NAME, STATUS, PROGRESS, WAITING, DUE, AGE, LEASE, CHANGES]

/** Where they do not all fit, those that were not asked for by `w` go first. */
const WIDE: readonly ListColumn<StreamEntry>[] = [
  ...USUAL.map(column => (column === NAME ? { ...NAME, width: 22 } : column)),
  extra('VERSION', 7, 2, { align: 'right', cell: cells.textOf(({ version }) => String(version)) }),
  extra('ROOT', 11, 3, { share: 1, cell: cells.textOf(({ root }) => root) }),
  extra('KEY', 8, 4, { share: 1, cell: cells.textOf(({ key }) => key) }),
  extra('TOPIC', 8, 5, { share: 1, cell: cells.textOf(({ topic }) => topic) }),
  extra('CHANGED', AGE_WIDTH, 4, {
    align: 'right',
    cell: ({ item }, moment) => agoText(item.listed.modifiedMs, moment),
  }),
  extra('LAST BY', 9, 4, { share: 1, cell: cells.textOf(({ lastBy }) => lastBy) }),
  extra('FAILURE', 12, 5, { share: 3, cell: cells.textOf(failure) }),
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

import type { CellFormat } from '../../formats/field.ts'
import { CLAIM_FIELDS, ownerCell, STEP_FIELDS } from '../../formats/listing/workers.ts'
import { countText, spacedCount } from '../../formats/terminal/numbers.ts'
import type { Style } from '../../formats/terminal/style.ts'
import type { Cell } from '../../formats/terminal/table.ts'
import type { StepLoad } from '../../ops/steps.ts'
import type { WorkerRow } from '../data/types.ts'
import type { Scene } from '../state/context.ts'
import { PANES_COLUMNS, WIDE_COLUMNS } from '../state/layout.ts'
import { workerRow } from '../state/lists/row-target.ts'
import { type WorkerState, workerState } from '../state/lists/worker-list.ts'
import { gutter, highlightOf, type ListColumn, listRow, placeColumns, titleRow } from './columns.ts'
import { emptyRows, noMatch, waitingRows } from './empty.ts'
import { type Area, BLANK, filled, rowOf, type ScreenRow } from './row.ts'
import { safeName, safeText } from './safe-text.ts'
import { isTiny, marksOf } from './streams.ts'
import { screenFormat } from './times.ts'
import { listWindow } from './window.ts'

/** The screen of workers: the queue of each step, and what each worker has in hand, which is the list with the cursor. */
export function workerRows(scene: Scene, area: Area): ScreenRow[] {
  const waiting = waitingRows(scene, area)
  if (waiting !== undefined) return filled(waiting, area)
  const hasRoom = !isTiny(scene) && area.rows >= LEAST_ROWS
  const steps = hasRoom ? stepRows(scene, { ...area, rows: Math.floor(area.rows / 3) }) : []
  const above = steps.length === 0 ? [] : [...steps, BLANK]
  return filled([...above, ...claimRows(scene, { ...area, rows: area.rows - above.length })], area)
}

/** Of lower screens the list takes all. */
const LEAST_ROWS = 12

function claimRows(scene: Scene, area: Area): ScreenRow[] {
  const { keys: all, total } = scene.listing
  if (all.length === 0) return total > 0 ? noMatch(scene, area, 'claim') : noWorkers(area)
  const format = screenFormat(scene.nowMs, scene.state.time)
  const columns = placeColumns(COLUMNS, area.columns)
  const titles = isTiny(scene) ? [] : [titleRow(columns)]
  const { keys, cursor } = listWindow(scene, area.rows - titles.length)
  const rows = keys.flatMap(key => {
    const row = workerRow(scene.data, key)
    if (row === undefined) return []
    const marks = marksOf(scene, key, cursor)
    if (!isTiny(scene)) return { ...listRow(columns, row, format, marks), key }
    const { glyph, style } = STATES[workerState(row, scene.nowMs)]
    const text = `${glyph} ${safeText(row.owner)} ${safeName(row.stream)}`
    return rowOf([...gutter(marks), [text, style]], area.columns, highlightOf(marks).highlight)
  })
  return [...titles, ...rows]
}

function noWorkers(area: Area): ScreenRow[] {
  return emptyRows(area, 'no worker has claimed an event', ['leasectl work -- PROGRAM   runs one'])
}

/** The queue of each step, those with abandoned events first, then those with the most ready ones. */
function stepRows({ data, nowMs, state }: Scene, area: Area): ScreenRow[] {
  const steps = data.workers.steps.toSorted((a, b) => b.abandoned - a.abandoned || b.ready - a.ready)
  const room = area.rows - 1
  if (steps.length === 0 || room < 1) return []
  const columns = placeColumns(STEPS, area.columns)
  const format = screenFormat(nowMs, state.time)
  const shown = steps.slice(0, steps.length > room ? Math.max(1, room - 1) : room)
  const rest = steps.length - shown.length
  const more = rest === 0 ? [] : [rowOf([[`   and ${spacedCount(rest)} more`, 'dim']], area.columns)]
  return [titleRow(columns), ...shown.map(step => listRow(columns, step, format)), ...more]
}

const STATES: { readonly [Of in WorkerState]: { readonly glyph: string; readonly style: Style } } = {
  abandoned: { glyph: '†', style: 'warn' },
  running: { glyph: '▶', style: 'plain' },
  idle: { glyph: '○', style: 'dim' },
}

type RowCell = ListColumn<WorkerRow>['cell']

/** The worker with the glyph of what it does. */
function workerCell(row: WorkerRow, format: CellFormat): Cell {
  const { glyph, style } = STATES[workerState(row, format.nowMs)]
  const owner = ownerCell(row.owner, format)
  return { text: `${glyph} ${typeof owner === 'string' ? owner : owner.text}`, style }
}

/** A field of the claim; of a worker without one `-`. */
function claimed(field: 'since' | 'lastSeen' | 'attempt'): RowCell {
  return ({ stream, claim }, format) =>
    claim === undefined ? { text: '-', style: 'dim' } : CLAIM_FIELDS[field].cell({ stream, claim }, format)
}

function eventText({ event = '', claim }: WorkerRow, format: CellFormat): string {
  return format.text(`${event} ${claim?.name ?? ''}`.trim()) || '-'
}

/** The rest of the claim, since when it is over, or since when the worker has none. */
function claimCell({ claim, atMs }: WorkerRow, format: CellFormat): Cell {
  const { nowMs, time, span, age } = format
  if (claim === undefined) return { text: `idle ${age(atMs)}`, style: 'dim' }
  const { claimEndMs } = claim
  if (claimEndMs === undefined) return { text: 'no claim', style: 'dim' }
  if (claimEndMs <= nowMs) return { text: `abandoned ${age(claimEndMs)}`, style: 'warn' }
  return time === 'relative' ? `${span(claimEndMs - nowMs)} left` : `until ${age(claimEndMs)}`
}

function countCell(count: number, style: Style): Cell {
  return count === 0 ? { text: '-', style: 'dim' } : { text: countText(count), style }
}

const COLUMNS: readonly ListColumn<WorkerRow>[] = [
  { title: '  WORKER', width: 10, share: 2, cut: 'middle', cell: workerCell },
  { title: 'CLAIM', width: 13, cell: claimCell },
  { title: 'STREAM', width: 10, share: 3, cut: 'middle', cell: ({ stream }, format) => format.name(stream) },
  { title: 'EVENT', width: 10, share: 3, spare: 2, cell: eventText },
  { title: 'SINCE', align: 'right', width: 9, from: PANES_COLUMNS, spare: 6, cell: claimed('since') },
  { title: 'SEEN', align: 'right', width: 10, from: WIDE_COLUMNS, spare: 5, cell: claimed('lastSeen') },
  { title: 'TRY', align: 'right', width: 3, from: PANES_COLUMNS, spare: 4, cell: claimed('attempt') },
  {
    title: 'DONE/MIN',
    align: 'right',
    width: 8,
    from: WIDE_COLUMNS,
    spare: 7,
    cell: ({ done }) => countCell(done, 'plain'),
  },
  {
    title: 'FAILED/MIN',
    align: 'right',
    width: 10,
    from: WIDE_COLUMNS,
    spare: 7,
    cell: ({ failed }) => countCell(failed, 'bad'),
  },
]

const STEPS: readonly ListColumn<StepLoad>[] = [
  { ...STEP_FIELDS.step, width: 20 },
  { ...STEP_FIELDS.ready, width: 7 },
  { ...STEP_FIELDS.running, width: 7 },
  { ...STEP_FIELDS.abandoned, width: 9, spare: 1 },
  { ...STEP_FIELDS.oldest, title: 'OLDEST READY', width: 12, from: PANES_COLUMNS, spare: 2 },
]

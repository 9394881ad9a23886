import type { CellFormat } from '../../formats/field.ts'
import { CLAIM_FIELDS, ownerCell, STEP_FIELDS } from '../../formats/listing/workers.ts'
import { countText, spacedCount } from '../../formats/terminal/numbers.ts'
import type { Style } from '../../formats/terminal/style.ts'
import type { Cell } from '../../formats/terminal/table.ts'
import type { StepLoad } from '../../ops/steps.ts'
import type { WorkerRow } from '../data/types.ts'
import { sortOf, type TitleOf } from '../state/columns.ts'
import type { Scene } from '../state/context.ts'
import { workerRow } from '../state/lists/row-target.ts'
import { type RowKeys, sortedRows } from '../state/lists/sorting.ts'
import { type WorkerState, workerState } from '../state/lists/worker-list.ts'
import { columnsOf } from './columns-of.ts'
import { emptyRows, noMatch, waitingRows } from './empty.ts'
import { type Area, BLANK, filled, rowOf, type ScreenRow } from './row.ts'
import { safeName, safeText } from './safe-text.ts'
import { isTiny, marksOf } from './streams.ts'
import { type FlexColumn, gutter, highlightOf, type TableRow, tableRows } from './table.ts'
import { screenFormat } from './times.ts'
import { listWindow } from './window.ts'

/** The screen of workers: the queue of each step, and what each worker has in hand, which is the list with the cursor. */
export function workerRows(scene: Scene, area: Area): ScreenRow[] {
  const waiting = waitingRows(scene, area)
  if (waiting !== undefined) return filled(waiting, area)
  const hasRoom = !isTiny(scene) && area.rows >= LEAST_ROWS
  const steps = hasRoom ? stepRows(scene, { ...area, rows: stepRoom(scene, area.rows) }) : []
  const above = steps.length === 0 ? [] : [...steps, BLANK]
  return filled([...above, ...claimRows(scene, { ...area, rows: area.rows - above.length })], area)
}

/** A third of the screen, and what the list below leaves free. */
function stepRoom({ listing }: Scene, rows: number): number {
  return Math.max(Math.floor(rows / 3), rows - Math.max(LEAST_LIST_ROWS, listing.keys.length + 2))
}

/** Room for the message of an empty list. */
const LEAST_LIST_ROWS = 6
/** Of lower screens the list takes all. */
const LEAST_ROWS = 12

function claimRows(scene: Scene, area: Area): ScreenRow[] {
  const { keys: all, total } = scene.listing
  if (all.length === 0) return total > 0 ? noMatch(scene, area, 'claim') : noWorkers(area)
  const hasTitles = !isTiny(scene)
  const { keys, cursor } = listWindow(scene, area.rows - (hasTitles ? 1 : 0))
  const rows = keys.flatMap((key): TableRow<WorkerRow>[] => {
    const item = workerRow(scene.data, key)
    if (item === undefined) return []
    const marks = marksOf(scene, key, cursor)
    if (hasTitles) return [{ item, marks, key }]
    const { glyph, style } = STATES[workerState(item, scene.nowMs)]
    const text = `${glyph} ${safeText(item.owner)} ${safeName(item.stream)}`
    return [{ row: rowOf([...gutter(marks), [text, style]], area.columns, highlightOf(marks).highlight) }]
  })
  const format = screenFormat(scene.nowMs, scene.state.time)
  const options = { columns: area.columns, format, widths: scene.widths, hasTitles, list: 'workers' } as const
  return tableRows(columnsOf(scene, 'workers', COLUMNS), rows, options)
}

function noWorkers(area: Area): ScreenRow[] {
  return emptyRows(area, 'no worker has claimed an event', ['leasectl work -- PROGRAM   runs one'])
}

/** The queue of each step, those with abandoned events first, then those with the most ready ones. */
function stepRows(scene: Scene, area: Area): ScreenRow[] {
  const { data, nowMs, state, widths } = scene
  const usual = data.workers.steps.toSorted((a, b) => b.abandoned - a.abandoned || b.ready - a.ready)
  const { by, isDescending } = sortOf(state, 'steps')
  const steps = sortedRows(usual, STEP_KEYS[by], isDescending, nowMs)
  const room = area.rows - 1
  if (steps.length === 0 || room < 1) return []
  const format = screenFormat(nowMs, state.time)
  const shown = steps.slice(0, steps.length > room ? Math.max(1, room - 1) : room)
  const rest = steps.length - shown.length
  const more = rest === 0 ? [] : [rowOf([[`   and ${spacedCount(rest)} more`, 'dim']], area.columns)]
  const rows = shown.map((item): TableRow<StepLoad> => ({ item, marks: {} }))
  const options = { columns: area.columns, format, widths, hasTitles: true, list: 'steps' } as const
  return [...tableRows(columnsOf(scene, 'steps', STEPS), rows, options), ...more]
}

const STATES: { readonly [Of in WorkerState]: { readonly glyph: string; readonly style: Style } } = {
  abandoned: { glyph: '†', style: 'warn' },
  running: { glyph: '▶', style: 'plain' },
  idle: { glyph: '○', style: 'dim' },
}

type RowCell = FlexColumn<WorkerRow>['cell']

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

const COLUMNS: { readonly [Title in TitleOf<'workers'>]: Omit<FlexColumn<WorkerRow>, 'title'> } = {
  WORKER: { least: 10, cut: 'middle', cell: workerCell },
  CLAIM: { spare: 1, cell: claimCell },
  STREAM: { least: 10, cut: 'middle', spare: 1, cell: ({ stream }, format) => format.name(stream) },
  EVENT: { least: 10, spare: 2, cell: eventText },
  SINCE: { align: 'right', spare: 6, cell: claimed('since') },
  SEEN: { align: 'right', spare: 5, cell: claimed('lastSeen') },
  TRY: { align: 'right', spare: 4, cell: claimed('attempt') },
  'DONE/MIN': { align: 'right', spare: 7, cell: ({ done }) => countCell(done, 'plain') },
  'FAILED/MIN': { align: 'right', spare: 7, cell: ({ failed }) => countCell(failed, 'bad') },
}

const { step, ready, running, abandoned, oldest } = STEP_FIELDS

const STEPS: { readonly [Title in TitleOf<'steps'>]: Omit<FlexColumn<StepLoad>, 'title'> } = {
  STEP: { ...step, least: 16 },
  READY: ready,
  RUNNING: running,
  ABANDONED: { ...abandoned, spare: 1 },
  'OLDEST READY': { ...oldest, spare: 2 },
}

const STEP_KEYS: RowKeys<StepLoad> = {
  step: step => step.step,
  ready: step => -step.ready,
  running: step => -step.running,
  oldest: ({ readySinceMs }) => readySinceMs,
}

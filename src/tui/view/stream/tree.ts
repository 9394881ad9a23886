import { eventDueMs, type ShownStream, shownStatus, statusWord, styleOf, timeOf } from '../../../formats/stream/view.ts'
import { calmSpan } from '../../../formats/terminal/numbers.ts'
import { cutInside } from '../../../formats/terminal/width.ts'
import { attemptOf, fenceOf, isFinal, isSuperseded, type StreamEvent } from '../../../stream/event.ts'
import { claimEndMs } from '../../../stream/time/deadlines.ts'
import type { OpenStream } from '../../data/types.ts'
import type { RowGroup, Scene } from '../../state/context.ts'
import { layoutOf, PANES_COLUMNS, WIDE_COLUMNS } from '../../state/layout.ts'
import { shownOf } from '../../state/shown-stream.ts'
import type { State } from '../../state/state.ts'
import { emptyRows, noDocument, noMatch } from '../empty.ts'
import { type Area, cell, filled, rowOf, type ScreenRow, type StyledText } from '../row.ts'
import { safeText } from '../safe-text.ts'
import { agoText, dueSpan, type RowTime } from '../times.ts'
import { listWindow } from '../window.ts'
import { foldMark, groupText, type LabelContext, labelContext, labelSpans, ownId } from './label.ts'
import { openOf } from './open.ts'
import { type VisibleNode, visibleNodes } from './visible-nodes.ts'

/** The thread tree of the open stream: column titles if there is room, and the rows around the cursor. */
export function treeRows(scene: Scene, area: Area): ScreenRow[] {
  const { state, nowMs } = scene
  const { titles } = layoutOf(state)
  const columns = treeColumns(area.columns, state.isWide, state.time)
  const isLine = area.columns < LINE_COLUMNS
  const head = titles > 0 && !isLine ? [titleRow(columns, area.columns)] : []
  const open = openOf(scene)
  const shown = shownOf(open, nowMs)
  if (open === undefined || shown === undefined) return filled(noDocument(scene, area), area)
  const context: TreeContext = {
    scene,
    label: labelContext(scene, open),
    open,
    width: area.columns,
    columns,
    shown,
    time: state.time,
  }
  const rows = visibleNodes(scene, open, listWindow(scene, area.rows - head.length)).map(item =>
    isLine ? lineRow(item, context) : nodeRow(item, context),
  )
  return filled([...head, ...(rows.length > 0 ? rows : emptyTree(scene, open, area))], area)
}

interface TreeContext extends CellContext {
  readonly scene: Scene
  readonly label: LabelContext
  readonly open: OpenStream
  readonly width: number
}

function titleRow(columns: readonly TreeColumn[], width: number): ScreenRow {
  const [event, ...others] = columns
  const first = cell('  EVENT', event?.width ?? 0, 'dim')
  const rest = others.map(({ title, width, align }) => `${' '.repeat(TREE_GAP)}${cell(title, width, 'dim', align)[0]}`)
  return rowOf([[`${' '.repeat(CURSOR_COLUMNS)}${first[0]}${rest.join('')}`, 'dim']], width)
}

function nodeRow(item: VisibleNode, context: TreeContext): ScreenRow {
  const [first, ...others] = context.columns
  const spans: StyledText[] = [
    [item.isCursor ? '›' : ' ', 'plain'],
    ...labelSpans(item, context.label, first?.width ?? 0),
  ]
  for (const column of others) {
    const [text, style] = cellOf(item, column, context)
    spans.push([' '.repeat(TREE_GAP), 'plain'], cell(text, column.width, style, column.align))
  }
  return rowOf(spans, context.width, nodeHighlight(item))
}

/** Superseded events are faint, like rows that no longer match the filter. */
export function nodeHighlight({ event, isCursor, isFaint }: VisibleNode): ScreenRow['highlight'] {
  if (isCursor) return 'cursor'
  return isFaint || (event !== undefined && isSuperseded(event)) ? 'faint' : undefined
}

function cellOf({ node, event, group }: VisibleNode, { id, width }: TreeColumn, context: TreeContext): StyledText {
  if (group !== undefined) return id === 'status' ? groupStatus(group) : ['', 'plain']
  if (event === undefined) return id === 'status' ? ['? missing', 'warn'] : ['', 'plain']
  if (node.again) return id === 'status' ? ['↑ see above', 'dim'] : ['', 'plain']
  return eventCell(id, event, width, context)
}

function groupStatus({ word }: RowGroup): StyledText {
  const { glyph, style } = styleOf(word)
  return [`${glyph} ${safeText(statusWord(word))}`, style]
}

/** Without room for columns: glyph, id, status word, and as much of the name as fits. */
function lineRow(item: VisibleNode, { shown, open, width }: TreeContext): ScreenRow {
  const { node, event, isCursor, isMarked, group } = item
  if (group !== undefined) {
    const text = `${isCursor ? '›' : ' '}${foldMark(item)} ${groupText(group)}`
    return rowOf([[text, 'plain']], width, nodeHighlight(item))
  }
  const state = event === undefined ? '' : shownStatus(shown, event)
  const { glyph, style } = event === undefined ? { glyph: '?', style: 'warn' as const } : styleOf(state)
  const word = event === undefined ? 'missing' : node.again ? 'see above' : safeText(statusWord(state))
  const own = node.depth > 4 ? `${node.depth} ${ownId(node, open)}` : node.id
  const id = cutInside(safeText(own), Math.max(8, width - 10))
  const front = `${isCursor ? '›' : ' '}${foldMark(item)}${isMarked ? '•' : ' '}`
  const name = event === undefined ? '' : `  ${safeText(event.name)}`
  const spans: StyledText[] = [
    [`${front}${id} `, 'plain'],
    [`${glyph} ${word}`, style],
    [name, 'plain'],
  ]
  return rowOf(spans, width, nodeHighlight(item))
}

function emptyTree(scene: Scene, open: OpenStream, area: Area): ScreenRow[] {
  if (open.nodes.length === 0) return emptyRows(area, 'no events yet', [], 'dim')
  return scene.state.lists.stream.filter === '' ? [] : noMatch(scene, area, 'event')
}

type TreeColumnId =
  | 'event'
  | 'status'
  | 'owner'
  | 'age'
  | 'due'
  | 'attempt'
  | 'fence'
  | 'topic'
  | 'key'
  | 'tag'
  | 'message'

/** A column of the tree. Its width depends only on the screen: rows that come and go move nothing. */
interface TreeColumn {
  readonly id: TreeColumnId
  readonly title: string
  readonly width: number
  readonly align: 'left' | 'right'
}

/** Blanks between two columns. */
const TREE_GAP = 2
/** The cursor before each row. */
const CURSOR_COLUMNS = 1
/** Narrower trees have lines without columns. */
const LINE_COLUMNS = 40

/** The columns for a screen width; with gaps and cursor they fill it. */
function treeColumns(columns: number, isWide: boolean, time: State['time']): readonly TreeColumn[] {
  const base = [...baseColumns(columns, time)]
  const least = columns < WIDE_COLUMNS ? LEAST_EVENT : ROOMY_EVENT + TREE_GAP + LEAST_MESSAGE
  for (const column of isWide ? MORE : []) if (eventColumns(columns, [...base, column]) >= least) base.push(column)
  const room = eventColumns(columns, base)
  if (columns < WIDE_COLUMNS) return [eventColumn(room), ...base]
  // Width that the event does not need goes to its message.
  const part = Math.floor(columns / (isWide ? 4 : 3))
  const event = Math.max(ROOMY_EVENT, Math.min(part, room - TREE_GAP - LEAST_MESSAGE))
  const message = room - event - TREE_GAP
  if (message < LEAST_MESSAGE) return [eventColumn(room), ...base]
  return [eventColumn(event), ...base, { id: 'message', title: 'MESSAGE', width: message, align: 'left' }]
}

const LEAST_EVENT = 22
/** With a message column. */
const ROOMY_EVENT = 34
const LEAST_MESSAGE = 10

function eventColumn(width: number): TreeColumn {
  return { id: 'event', title: 'EVENT', width, align: 'left' }
}

function eventColumns(columns: number, others: readonly TreeColumn[]): number {
  return columns - CURSOR_COLUMNS - others.reduce((sum, { width }) => sum + width + TREE_GAP, 0)
}

const MORE: readonly TreeColumn[] = [
  { id: 'attempt', title: 'TRY', width: 3, align: 'right' },
  { id: 'fence', title: 'FENCE', width: 5, align: 'right' },
  { id: 'topic', title: 'TOPIC', width: 10, align: 'left' },
  { id: 'key', title: 'KEY', width: 10, align: 'left' },
  { id: 'tag', title: 'TAG', width: 10, align: 'left' },
]

function baseColumns(columns: number, time: State['time']): readonly TreeColumn[] {
  const isClock = time !== 'relative'
  const isRoomy = columns >= WIDE_COLUMNS
  const status: TreeColumn = { id: 'status', title: 'STATUS', width: isRoomy ? 14 : 13, align: 'left' }
  const due: TreeColumn = { id: 'due', title: 'DUE', width: 11, align: 'right' }
  if (columns < 52) return [status]
  if (columns < PANES_COLUMNS) return [status, due]
  const owner: TreeColumn = { id: 'owner', title: 'OWNER', width: isRoomy ? 20 : 10, align: 'left' }
  return [
    status,
    owner,
    isClock
      ? { id: 'age', title: 'CREATED', width: 9, align: 'right' }
      : { id: 'age', title: 'AGE', width: 7, align: 'right' },
    due,
  ]
}

/** Context of an event's cells. */
interface CellContext {
  readonly shown: ShownStream
  readonly time: State['time']
  readonly columns: readonly TreeColumn[]
}

/** The text of a cell, not yet fitted. */
function eventCell(id: TreeColumnId, event: StreamEvent, width: number, context: CellContext): StyledText {
  switch (id) {
    case 'event':
      return [`${safeText(event.id)} ${safeText(event.name)}`, 'plain']
    case 'status':
      return statusSpan(event, context)
    case 'owner':
      return ownerSpan(event, width, context)
    case 'age':
      return [agoText(timeOf(context.shown, event.lc.opened ?? event.created), momentOf(context)), 'plain']
    case 'due':
      return dueCell(event, context)
    case 'attempt':
      return [String(attemptOf(event)), 'plain']
    case 'fence':
      return [String(fenceOf(event) ?? '-'), 'plain']
    case 'topic':
      return [safeText(event.topic), 'plain']
    case 'key':
      return [safeText(event.key), 'plain']
    case 'tag':
      return [safeText(event.tag), 'plain']
    case 'message':
      return [safeText(event.msg), 'plain']
    default:
      return id satisfies never
  }
}

/** Glyph, word and colour of an event's status; with its attempt number unless a column shows it. */
export function statusSpan(event: StreamEvent, { shown, columns }: Pick<CellContext, 'shown' | 'columns'>): StyledText {
  const state = shownStatus(shown, event)
  const { glyph, style } = styleOf(state)
  if (isSuperseded(event)) return [`${glyph} replaced`, 'dim']
  const attempt = attemptOf(event)
  const number = attempt > 1 && columns.every(({ id }) => id !== 'attempt') ? ` #${attempt}` : ''
  return [`${glyph} ${safeText(statusWord(state))}${number}`, style]
}

/** The owner and the time left of its claim; in a narrow column the DUE column shows the latter. */
function ownerSpan(event: StreamEvent, width: number, { shown }: CellContext): StyledText {
  const { owner } = event.lc
  if (isFinal(event) || owner === undefined) return ['-', 'plain']
  const [left, style] = claimSpan(event, shown.nowMs)
  if (left === '' || width < 20) return [safeText(owner), style]
  const name = safeText(owner)
  return [`${name.length + left.length + 1 > width ? `${name.slice(0, 7)}…` : name} ${left}`, style]
}

/** `41s left` of a claim, `ran out` after its end; `''` without one. */
export function claimSpan(event: StreamEvent, nowMs: number): StyledText {
  const until = isFinal(event) ? undefined : claimEndMs(event)
  if (until === undefined) return ['', 'plain']
  return until > nowMs ? [`${calmSpan(until - nowMs)} left`, 'plain'] : ['ran out', 'warn']
}

function dueCell(event: StreamEvent, context: CellContext): StyledText {
  const { shown, columns } = context
  const due = eventDueMs(shown, event)
  if (due !== undefined) return dueSpan(due, momentOf(context))
  const hasRoom = (columns.find(({ id }) => id === 'owner')?.width ?? 0) >= 20
  return hasRoom ? ['', 'plain'] : claimSpan(event, shown.nowMs)
}

function momentOf({ shown, time }: CellContext): RowTime {
  return { nowMs: shown.nowMs, time }
}

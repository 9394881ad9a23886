import { eventDueMs, type ShownStream, statusLook, timeOf } from '../../../formats/stream/view.ts'
import { calmSpan } from '../../../formats/terminal/numbers.ts'
import { cutInside, widthOf } from '../../../formats/terminal/width.ts'
import { attemptOf, fenceOf, isFinal, isSuperseded, type StreamEvent } from '../../../stream/event.ts'
import { claimEndMs } from '../../../stream/time/deadlines.ts'
import type { OpenStream } from '../../data/types.ts'
import { shownTitles } from '../../state/columns.ts'
import type { RowGroup, Scene } from '../../state/context.ts'
import { layoutOf, WIDE_COLUMNS } from '../../state/layout.ts'
import { lookOf, shownOf } from '../../state/shown-stream.ts'
import type { State } from '../../state/state.ts'
import { emptyRows, noDocument, noMatch } from '../empty.ts'
import { type Area, cell, filled, rowOf, type ScreenRow, type StyledText } from '../row.ts'
import { firstLine, safeText } from '../safe-text.ts'
import { columnWidths, type FlexColumn } from '../table.ts'
import { agoText, dueSpan, type RowTime, tookSpan } from '../times.ts'
import { listWindow } from '../window.ts'
import { foldMark, groupText, type LabelContext, labelContext, labelSpans, ownId } from './label.ts'
import { openOf } from './open.ts'
import { type VisibleNode, visibleNodes } from './visible-nodes.ts'
import { markedName, waitsSpan } from './waits.ts'

/** The thread tree of the open stream: column titles if there is room, and the rows around the cursor. */
export function treeRows(scene: Scene, area: Area): ScreenRow[] {
  const { state, nowMs } = scene
  const { titles } = layoutOf(state)
  const isLine = area.columns < LINE_COLUMNS
  const hasTitles = titles > 0 && !isLine
  const open = openOf(scene)
  const shown = shownOf(open, nowMs)
  if (open === undefined || shown === undefined) return filled(noDocument(scene, area), area)
  const columns = treeColumns(state)
  const context: TreeContext = {
    scene,
    label: labelContext(scene, open),
    open,
    width: area.columns,
    columns,
    shown,
    time: state.time,
  }
  const items = visibleNodes(scene, open, listWindow(scene, area.rows - (hasTitles ? 1 : 0)))
  if (items.length === 0) return filled(emptyTree(scene, open, area), area)
  if (isLine)
    return filled(
      items.map(item => lineRow(item, context)),
      area,
    )
  const placed = { ...context, columns: fittedColumns(items, context) }
  const head = hasTitles ? [titleRow(placed.columns, area.columns)] : []
  return filled([...head, ...items.map(item => nodeRow(item, placed))], area)
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

function cellOf({ node, event, group }: VisibleNode, { id }: TreeColumn, context: TreeContext): StyledText {
  if (group !== undefined) return id === 'status' ? groupStatus(group) : ['', 'plain']
  if (event === undefined) return id === 'status' ? ['? missing', 'warn'] : ['', 'plain']
  if (node.again) return id === 'status' ? ['↑ see above', 'dim'] : ['', 'plain']
  return eventCell(id, event, context)
}

function groupStatus({ word }: RowGroup): StyledText {
  const look = statusLook(word)
  return [`${look.glyph} ${safeText(look.word)}`, look.style]
}

const MISSING = { glyph: '?', style: 'warn', word: 'missing' } as const

/** Without room for columns: glyph, id, status word, and as much of the name as fits. */
function lineRow(item: VisibleNode, { shown, open, width, time }: TreeContext): ScreenRow {
  const { node, event, isCursor, isMarked, group } = item
  if (group !== undefined) {
    const text = `${isCursor ? '›' : ' '}${foldMark(item)} ${groupText(group)}`
    return rowOf([[text, 'plain']], width, nodeHighlight(item))
  }
  const look = event === undefined ? MISSING : lookOf(shown, event)
  const { glyph, style } = look
  const word = event !== undefined && node.again ? 'see above' : safeText(look.word)
  const own = node.depth > 4 ? `${node.depth} ${ownId(node, open)}` : node.id
  const id = cutInside(safeText(own), Math.max(8, width - 10))
  const front = `${isCursor ? '›' : ' '}${foldMark(item)}${isMarked ? '•' : ' '}`
  const [waits] = event === undefined || node.again ? [''] : waitsSpan(event, { nowMs: shown.nowMs, time })
  const name = event === undefined ? '' : `  ${markedName(event)}`
  const spans: StyledText[] = [
    [`${front}${id} `, 'plain'],
    [`${glyph} ${word}${waits === '' ? '' : ` ${waits}`}`, style],
    [name, 'plain'],
  ]
  return rowOf(spans, width, nodeHighlight(item))
}

function emptyTree(scene: Scene, open: OpenStream, area: Area): ScreenRow[] {
  if (open.nodes.length === 0) return emptyRows(area, 'no events yet', [], 'dim')
  const { filter, onlyBroken } = scene.state.lists.stream
  return filter === '' && !onlyBroken ? [] : noMatch(scene, area, 'event')
}

type TreeColumnId =
  | 'event'
  | 'status'
  | 'owner'
  | 'age'
  | 'due'
  | 'waits'
  | 'attempt'
  | 'fence'
  | 'topic'
  | 'key'
  | 'tag'
  | 'message'

/** A column of the tree. */
interface TreeColumn {
  readonly id: TreeColumnId
  readonly title: string
  readonly width: number
  readonly align: 'left' | 'right'
  readonly fit: Pick<FlexColumn<never>, 'least' | 'isText' | 'spare'>
}

/** Blanks between two columns. */
const TREE_GAP = 2
/** The cursor before each row. */
const CURSOR_COLUMNS = 1
/** Narrower trees have lines without columns. */
const LINE_COLUMNS = 40
/** More than any label has. */
const ANY_WIDTH = 500

/** The columns with the widths that what is shown needs. */
function fittedColumns(items: readonly VisibleNode[], context: TreeContext): readonly TreeColumn[] {
  const { columns, scene, width } = context
  const needed = columns.map(column => {
    const most = items.reduce((most, item) => Math.max(most, neededWidth(item, column, context)), 0)
    const shape: FlexColumn<never> = { ...column.fit, title: column.title, cell: () => '' }
    return { column: shape, content: scene.widths.grown(column.title, most) }
  })
  // In most streams nothing waits.
  const shown = needed.filter(({ column, content }) => column.title !== WAITS.title || content > 0)
  // The table has a gutter of three columns, the tree one.
  const placed = columnWidths(shown, width + 2)
  return placed.flatMap(({ column, width }) => {
    const found = columns.find(({ title }) => title === column.title)
    return found === undefined ? [] : [{ ...found, width }]
  })
}

function neededWidth(item: VisibleNode, column: TreeColumn, context: TreeContext): number {
  // The attempt is part of the status where its own column has no room.
  if (column.id !== 'event') return widthOf(cellOf(item, column, { ...context, columns: [] })[0])
  const [label, ...badge] = labelSpans(item, context.label, ANY_WIDTH)
  return widthOf(label?.[0].trimEnd() ?? '') + badge.reduce((sum, [text]) => sum + widthOf(text), 0)
}

/** The chosen columns of a tree, before their widths are known. The event is always the first. */
function treeColumns(state: State): readonly TreeColumn[] {
  const titles = shownTitles(state, 'stream').filter(title => title !== 'EVENT')
  const shown = titles.map(title => COLUMNS.get(title)).filter(found => found !== undefined)
  const columns = [EVENT, ...shown]
  return state.time === 'relative'
    ? columns
    : columns.map(one => (one.id === 'age' ? { ...one, title: 'CREATED' } : one))
}

function column(
  id: TreeColumnId,
  title: string,
  fit: TreeColumn['fit'],
  align: TreeColumn['align'] = 'left',
): TreeColumn {
  return { id, title, width: 0, align, fit }
}

const EVENT = column('event', 'EVENT', { least: 22 })
const WAITS = column('waits', 'WAITS FOR', { least: 12, spare: 1 })

const COLUMNS: ReadonlyMap<string, TreeColumn> = new Map(
  [
    column('status', 'STATUS', {}),
    column('owner', 'OWNER', { least: 8, spare: 2 }),
    column('age', 'AGE', { spare: 4 }, 'right'),
    column('due', 'DUE', { spare: 3 }, 'right'),
    WAITS,
    column('attempt', 'TRY', { spare: 6 }, 'right'),
    column('fence', 'FENCE', { spare: 7 }, 'right'),
    column('topic', 'TOPIC', { least: 8, spare: 9 }),
    column('key', 'KEY', { least: 8, spare: 8 }),
    column('tag', 'TAG', { least: 8, spare: 10 }),
    column('message', 'MESSAGE', { least: 10, isText: true, spare: 5 }),
  ].map(one => [one.title, one]),
)

/** Context of an event's cells. */
interface CellContext {
  readonly shown: ShownStream
  readonly time: State['time']
  readonly columns: readonly TreeColumn[]
}

/** The text of a cell, not yet fitted. */
function eventCell(id: TreeColumnId, event: StreamEvent, context: TreeContext): StyledText {
  switch (id) {
    case 'event':
      return [`${safeText(event.id)} ${markedName(event)}`, 'plain']
    case 'status':
      return statusSpan(event, context)
    case 'owner':
      return ownerSpan(event, context)
    case 'age':
      return ageSpan(event, context)
    case 'due':
      return dueCell(event, context)
    case 'waits':
      return waitsSpan(event, momentOf(context))
    case 'attempt':
      return [String(attemptOf(event)), 'plain']
    case 'fence':
      return [String(fenceOf(event) ?? ''), 'plain']
    case 'topic':
      return [safeText(event.topic), 'plain']
    case 'key':
      return [safeText(event.key), 'plain']
    case 'tag':
      return [safeText(event.tag), 'plain']
    case 'message':
      return [safeText(firstLine(event.msg)), event.status === 'aborted' && !isSuperseded(event) ? 'bad' : 'plain']
    default:
      return id satisfies never
  }
}

/** Glyph, word and colour of an event's status; with its attempt number unless a column shows it. */
export function statusSpan(
  event: StreamEvent,
  { shown, columns }: Pick<CellContext, 'shown'> & { readonly columns: readonly Pick<TreeColumn, 'id'>[] },
): StyledText {
  const { glyph, style, word } = lookOf(shown, event)
  if (isSuperseded(event)) return [`${glyph} replaced`, 'dim']
  const attempt = attemptOf(event)
  const number = attempt > 1 && columns.every(({ id }) => id !== 'attempt') ? ` #${attempt}` : ''
  return [`${glyph} ${safeText(word)}${number}`, style]
}

/** The owner and the time left of its claim; on a narrow screen the DUE column shows the latter. */
function ownerSpan(event: StreamEvent, { shown, width }: TreeContext): StyledText {
  const { owner } = event.lc
  if (isFinal(event) || owner === undefined) return ['', 'plain']
  const [left, style] = claimSpan(event, shown.nowMs)
  return [`${safeText(owner)}${left === '' || width < WIDE_COLUMNS ? '' : ` ${left}`}`, style]
}

/** Age of an open event; how long one took that has ended. */
function ageSpan(event: StreamEvent, context: CellContext): StyledText {
  const { shown, time } = context
  const from = timeOf(shown, event.lc.opened ?? event.created)
  const to = timeOf(shown, event.timestamp)
  if (!isFinal(event) || from === undefined || to === undefined || time !== 'relative')
    return [from === undefined ? '' : agoText(from, momentOf(context)), 'plain']
  return [`took ${tookSpan(to - from)}`, 'dim']
}

/** `41s left` of a claim, `ran out` after its end; `''` without one. */
export function claimSpan(event: StreamEvent, nowMs: number): StyledText {
  const until = isFinal(event) ? undefined : claimEndMs(event)
  if (until === undefined) return ['', 'plain']
  return until > nowMs ? [`${calmSpan(until - nowMs)} left`, 'plain'] : ['ran out', 'warn']
}

function dueCell(event: StreamEvent, context: TreeContext): StyledText {
  const { shown, width } = context
  const due = eventDueMs(shown, event)
  if (due !== undefined) return dueSpan(due, momentOf(context))
  return width >= WIDE_COLUMNS ? ['', 'plain'] : claimSpan(event, shown.nowMs)
}

function momentOf({ shown, time }: CellContext): RowTime {
  return { nowMs: shown.nowMs, time }
}

import { lookOf, statusWord } from '../../../formats/stream/status.ts'
import { shownStatus } from '../../../formats/stream/view.ts'
import { cut, cutInside, widthOf } from '../../../formats/terminal/width.ts'
import { isSuperseded, type StreamEvent } from '../../../stream/event.ts'
import type { OpenStream, TreeNode } from '../../data/types.ts'
import type { Scene } from '../../state/context.ts'
import { layoutOf } from '../../state/layout.ts'
import { shownOf } from '../../state/shown-stream.ts'
import { emptyRows, noDocument, noMatch } from '../empty.ts'
import { cell, filled, rowOf } from '../fit.ts'
import type { Area, Row, Span } from '../row.ts'
import { safeText } from '../safe-text.ts'
import { type ListWindow, listWindow } from '../window.ts'
import { type CellContext, eventCell } from './event-cells.ts'
import { openOf, positionsOf } from './open.ts'
import { CURSOR_COLUMNS, LINE_COLUMNS, TREE_GAP, type TreeColumn, treeColumns } from './tree-columns.ts'

/** The thread tree of the open stream: its titles where the screen has room for them, and the rows around the cursor. */
export function treeRows(scene: Scene, area: Area): Row[] {
  const { state, nowMs } = scene
  const { titles } = layoutOf(state)
  const columns = treeColumns(area.columns, state.isWide, state.time)
  const isLine = area.columns < LINE_COLUMNS
  const head = titles > 0 && !isLine ? [titleRow(columns, area.columns)] : []
  const open = openOf(scene)
  const shown = shownOf(open, nowMs)
  if (open === undefined || shown === undefined) return filled(noDocument(scene, area), area)
  const look: TreeLook = { scene, open, width: area.columns, columns, shown, time: state.time }
  const rows = visibleNodes(scene, open, listWindow(scene, area.rows - head.length)).map(item =>
    isLine ? lineRow(item, look) : nodeRow(item, look),
  )
  return filled([...head, ...(rows.length > 0 ? rows : emptyTree(scene, open, area))], area)
}

/** A row of the tree that is seen. */
export interface SeenNode {
  readonly node: TreeNode
  readonly event: StreamEvent | undefined
  /** Where the node stands in the whole tree. */
  readonly at: number
  readonly isCursor: boolean
  readonly isFaint: boolean
  readonly isMarked: boolean
  /** `folded` where there is something below that is not seen, `open` where it is. */
  readonly fold: 'none' | 'open' | 'folded'
}

/** The rows of the tree in a window. Costs the rows, not the tree. */
export function visibleNodes(scene: Scene, open: OpenStream, { keys, from, cursor }: ListWindow): SeenNode[] {
  const { listing, state } = scene
  const positions = positionsOf(open.nodes)
  return keys.flatMap((key, row) => {
    const at = positions.get(key) ?? -1
    const node = open.nodes[at]
    if (node === undefined) return []
    const next = positions.get(listing.keys[from + row + 1] ?? '') ?? -1
    const isOpen = next > at && next < node.end
    return {
      node,
      at,
      event: open.event(node.id),
      isCursor: key === cursor,
      isFaint: listing.isFaint(key),
      isMarked: state.lists.stream.marks.has(key),
      fold: node.end <= at + 1 ? 'none' : isOpen ? 'open' : 'folded',
    }
  })
}

interface TreeLook extends CellContext {
  readonly scene: Scene
  readonly open: OpenStream
  readonly width: number
}

function titleRow(columns: readonly TreeColumn[], width: number): Row {
  const [event, ...others] = columns
  const first = cell('  EVENT', event?.width ?? 0, 'dim')
  const rest = others.map(({ title, width, align }) => `${' '.repeat(TREE_GAP)}${cell(title, width, 'dim', align)[0]}`)
  return rowOf([[`${' '.repeat(CURSOR_COLUMNS)}${first[0]}${rest.join('')}`, 'dim']], width)
}

function nodeRow(item: SeenNode, look: TreeLook): Row {
  const [first, ...others] = look.columns
  const spans: Span[] = [[item.isCursor ? '›' : ' ', 'plain'], ...labelSpans(item, look.open, first?.width ?? 0)]
  for (const column of others) {
    const [text, style] = cellOf(item, column, look)
    spans.push([' '.repeat(TREE_GAP), 'plain'], cell(text, column.width, style, column.align))
  }
  return rowOf(spans, look.width, lookOfRow(item))
}

/** Rows of events that count no more are faint, like those that left the filter. */
export function lookOfRow({ event, isCursor, isFaint }: SeenNode): Row['look'] {
  if (isCursor) return 'cursor'
  return isFaint || (event !== undefined && isSuperseded(event)) ? 'faint' : undefined
}

function cellOf({ node, event }: SeenNode, { id, width }: TreeColumn, look: TreeLook): Span {
  if (event === undefined) return id === 'status' ? ['? missing', 'warn'] : ['', 'plain']
  if (node.again) return id === 'status' ? ['↑ see above', 'dim'] : ['', 'plain']
  return eventCell(id, event, width, look)
}

/** Tree lines, fold and mark, id and name in exactly so many columns; of folded events how far what is below has come. */
export function labelSpans(item: SeenNode, open: OpenStream, width: number): Span[] {
  const progress = item.fold === 'folded' ? progressSpans(open, item.at) : []
  const badge = progress.reduce((sum, [text]) => sum + widthOf(text), 0)
  const room = Math.max(0, width - (badge === 0 || badge > width / 2 ? 0 : badge + 1))
  const front = `${indent(item.node.lines, Math.floor(room / 2))}${foldMark(item)}${item.isMarked ? '•' : ' '}`
  const label = cell(`${front}${nameOf(item, room - widthOf(front))}`, room)
  return room === width ? [label] : [label, [' ', 'plain'], ...progress]
}

/** With less room there are no lines at all. */
const LEAST_INDENT = 6

/** Deep levels show the last of their lines only: the id must stay readable. */
function indent(lines: string, width: number): string {
  if (width < LEAST_INDENT) return ''
  return lines.length <= width ? lines : `…${lines.slice(lines.length - Math.max(0, width - 1))}`
}

const FOLD_MARKS = { none: ' ', open: '▾', folded: '▸' } as const

function foldMark({ fold }: SeenNode): string {
  return FOLD_MARKS[fold]
}

/** The id is cut last, and then inside: long ids differ at their end. */
function nameOf({ node, event }: SeenNode, width: number): string {
  const id = cutInside(safeText(node.id), width)
  const left = width - widthOf(id) - 1
  return event === undefined || event.name === '' || left < 2 ? id : `${id} ${cut(safeText(event.name), left)}`
}

function progressSpans(open: OpenStream, at: number): Span[] {
  const { done, failed, total } = open.below(at)
  return [[`${done}/${total}`, 'plain'], ...(failed > 0 ? [[` ✗ ${failed}`, 'bad'] as const] : [])]
}

/** Without room for columns: the sign of the status, the id, the word, and the name as far as it goes. */
function lineRow(item: SeenNode, { shown, width }: TreeLook): Row {
  const { node, event, isCursor, isMarked } = item
  const state = event === undefined ? '' : shownStatus(shown, event)
  const { glyph, style } = event === undefined ? { glyph: '?', style: 'warn' as const } : lookOf(state)
  const word = event === undefined ? 'missing' : node.again ? 'see above' : safeText(statusWord(state))
  const id = cutInside(safeText(node.id), Math.max(8, width - 10))
  const front = `${isCursor ? '›' : ' '}${foldMark(item)}${isMarked ? '•' : ' '}`
  const name = event === undefined ? '' : `  ${safeText(event.name)}`
  const spans: Span[] = [
    [`${front}${id} `, 'plain'],
    [`${glyph} ${word}`, style],
    [name, 'plain'],
  ]
  return rowOf(spans, width, lookOfRow(item))
}

function emptyTree(scene: Scene, open: OpenStream, area: Area): Row[] {
  if (open.nodes.length === 0) return emptyRows(area, 'no events yet', [], 'dim')
  return scene.state.lists.stream.filter === '' ? [] : noMatch(scene, area, 'event')
}

import { isPlanned, statusWord } from '../../../formats/stream/view.ts'
import { spacedCount } from '../../../formats/terminal/numbers.ts'
import { cut, cutInside, widthOf } from '../../../formats/terminal/width.ts'
import type { OpenStream } from '../../data/types.ts'
import type { Listing, Scene } from '../../state/context.ts'
import { cursorKey } from '../../state/cursor.ts'
import { cell, type StyledText } from '../row.ts'
import { safeText } from '../safe-text.ts'
import { positionsOf } from './open.ts'
import type { VisibleNode } from './visible-nodes.ts'
import { markedName } from './waits.ts'

/** What the labels of all rows depend on. */
export interface LabelContext {
  readonly open: OpenStream
  readonly listing: Listing
  /** Columns of tree lines that are hidden at the left, so that the cursor's are visible, in a label of this width. */
  hiddenColumns(width: number): number
}

export function labelContext(scene: Scene, open: OpenStream): LabelContext {
  const { listing } = scene
  const key = cursorKey(scene.state, scene) ?? ''
  const group = listing.groups.get(key)
  const at = positionsOf(open.nodes).get(key) ?? -1
  const depth = group === undefined ? (open.nodes[at]?.depth ?? 0) : depthOfGroup(open, group.parent)
  // Some levels below the cursor's are visible too.
  const hiddenColumns = (width: number) => Math.max(0, indentColumns(depth) - Math.ceil((2 * mostIndent(width)) / 3))
  return { open, listing, hiddenColumns }
}

/**
 * Tree lines, fold and mark, id and name in exactly `width` columns; for folded events the progress of the events
 * below.
 */
export function labelSpans(item: VisibleNode, context: LabelContext, width: number): StyledText[] {
  const progress = item.fold === 'folded' && item.group === undefined ? progressSpans(context.open, item.at) : []
  const badge = progress.reduce((sum, [text]) => sum + widthOf(text), 0)
  const room = Math.max(0, width - (badge === 0 || badge > width / 2 ? 0 : badge + 1))
  const front = `${indent(item, context, width)}${foldMark(item)}${item.isMarked ? '•' : ' '}`
  const style = item.event !== undefined && isPlanned(item.event) ? 'dim' : 'plain'
  const label = cell(`${front}${nameOf(item, context.open, room - widthOf(front))}`, room, style)
  return room === width ? [label] : [label, [' ', 'plain'], ...progress]
}

const FOLD_MARKS = { none: ' ', open: '▾', folded: '▸' } as const

export function foldMark({ fold }: Pick<VisibleNode, 'fold'>): string {
  return FOLD_MARKS[fold]
}

/** `+1 940 more init`: children of one event that have the same status. */
export function groupText({ word, count, isOpen }: NonNullable<VisibleNode['group']>): string {
  return `${isOpen ? '' : '+'}${spacedCount(count)} ${isOpen ? '' : 'more '}${safeText(statusWord(word))}`
}

/** With less room there are no tree lines. */
const LEAST_INDENT = 6
/** Levels of two columns; each deeper one takes a single column. */
const WIDE_LEVELS = 4

function mostIndent(width: number): number {
  return Math.floor(width / 2)
}

function indentColumns(depth: number): number {
  return 2 * Math.min(depth, WIDE_LEVELS) + Math.max(0, depth - WIDE_LEVELS)
}

/** Levels outside the visible columns show their number instead: which row is on which level can always be told. */
function indent(item: VisibleNode, context: LabelContext, width: number): string {
  const most = mostIndent(width)
  const depth = item.group === undefined ? item.node.depth : depthOfGroup(context.open, item.group.parent)
  if (most < LEAST_INDENT) return depth > WIDE_LEVELS ? `${depth} ` : ''
  const hidden = context.hiddenColumns(width)
  const columns = indentColumns(depth)
  if (columns <= hidden) return hidden === 0 ? '' : `${depth}…`
  const lines = linesOf(item, context, depth)
  if (columns - hidden > most) {
    const level = `…${depth}`
    return `${lines.slice(hidden, hidden + most - level.length)}${level}`
  }
  return hidden === 0 ? lines : `…${lines.slice(hidden + 1)}`
}

/** `│ └─`: from the fifth level on one column a level. */
function linesOf(item: VisibleNode, context: LabelContext, depth: number): string {
  const { nodes } = context.open
  const parts: string[] = []
  let level = depth
  let at = item.group?.parent ?? item.at
  const own = item.group === undefined ? isLast(at, item.node.key, context) : isLastGroup(item.group, context)
  parts.push(partOf(level, own ? '└─' : '├─'))
  if (item.group === undefined) at = nodes[at]?.parent ?? -1
  for (level--; level > 0 && at >= 0; level--) {
    parts.push(partOf(level, isLast(at, nodes[at]?.key ?? '', context) ? '  ' : '│ '))
    at = nodes[at]?.parent ?? -1
  }
  return parts.reverse().join('')
}

function partOf(level: number, text: string): string {
  return level > WIDE_LEVELS ? text.slice(0, 1) : text
}

function isLast(at: number, key: string, { open: { nodes }, listing }: LabelContext): boolean {
  const node = nodes[at]
  if (node === undefined) return true
  const last = listing.lastRows.get(node.parent)
  return last === undefined ? nodes[node.end]?.depth !== node.depth : last === key
}

function isLastGroup({ key, parent, isOpen }: NonNullable<VisibleNode['group']>, { listing }: LabelContext): boolean {
  return !isOpen && listing.lastRows.get(parent) === key
}

function depthOfGroup({ nodes }: OpenStream, parent: number): number {
  return (nodes[parent]?.depth ?? 0) + 1
}

/** The id is cut last, and then in the middle: long ids differ at their end. */
function nameOf({ node, event, group }: VisibleNode, open: OpenStream, width: number): string {
  if (group !== undefined) return cut(groupText(group), width)
  const id = cutInside(safeText(idFor(node, open, width)), width)
  const left = width - widthOf(id) - 1
  const name = event === undefined ? '' : markedName(event)
  return name === '' || left < Math.min(2, widthOf(name)) ? id : `${id} ${cut(name, left)}`
}

/** The whole id; on deep levels, and where it does not fit, its own part: the tree shows the path to it. */
function idFor(node: VisibleNode['node'], open: OpenStream, width: number): string {
  const own = ownId(node, open)
  return node.depth > WIDE_LEVELS || widthOf(node.id) > width ? own : node.id
}

/** The part of an id after the thread of the event above it: `.03.00` below `01.02`. */
export function ownId({ id, parent }: Pick<VisibleNode['node'], 'id' | 'parent'>, { nodes }: OpenStream): string {
  const above = nodes[parent]?.id ?? ''
  const thread = above.slice(0, Math.max(0, above.lastIndexOf('.')))
  return thread !== '' && id.startsWith(`${thread}.`) ? id.slice(thread.length) : id
}

function progressSpans(open: OpenStream, at: number): StyledText[] {
  const { done, failed, canceled, total } = open.below(at)
  return [
    [`${done}/${total}`, 'plain'],
    ...(failed > 0 ? [[` ✗ ${failed}`, 'bad'] as const] : []),
    ...(canceled > 0 ? [[` ⊘ ${canceled}`, 'warn'] as const] : []),
  ]
}

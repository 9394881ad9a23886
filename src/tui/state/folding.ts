import type { OpenStream, TreeNode } from '../data/types.ts'
import type { RowGroup, ScreenContext } from './context.ts'
import { cursorIndex, cursorKey, moveBy, moveToKey, openStreamOf } from './cursor.ts'
import type { State } from './state.ts'
import { withList, withNotice } from './transition.ts'

/** `h`: folds the rows below the cursor; if there are none or they are folded, goes to the parent. */
export function foldOrGoUp(state: State, context: ScreenContext): State {
  const group = groupUnderCursor(state, context)
  if (group?.isOpen) return withGroupToggled(state, group)
  if (group !== undefined) return moveToKey(state, context, openStreamOf(state, context)?.nodes[group.parent]?.key)
  const place = placeOf(state, context)
  if (place === undefined) return state
  if (isParent(place) && !state.folded.has(place.node.key)) return withFoldToggled(state, place.node)
  return moveToKey(state, context, place.open.nodes[place.node.parent]?.key)
}

/** `l`: unfolds the rows below the cursor, or goes to the first of them. */
export function unfoldOrGoDown(state: State, context: ScreenContext): State {
  const group = groupUnderCursor(state, context)
  if (group !== undefined) return group.isOpen ? moveBy(state, context, 1) : withGroupToggled(state, group)
  const place = placeOf(state, context)
  if (place === undefined || !isParent(place)) return state
  if (state.folded.has(place.node.key)) return withFoldToggled(state, place.node)
  const next = context.listing.keys[cursorIndex(state, context) + 1]
  const isBelow = place.open.nodes.slice(place.at + 1, place.node.end).some(({ key }) => key === next)
  return isBelow ? moveBy(state, context, 1) : state
}

/** `enter`: folds or unfolds. */
export function toggleFold(state: State, context: ScreenContext): State {
  const group = groupUnderCursor(state, context)
  if (group !== undefined) return withGroupToggled(state, group)
  const place = placeOf(state, context)
  return place !== undefined && isParent(place) ? withFoldToggled(state, place.node) : state
}

/** `-`: folds everything below the roots. The cursor goes to the row that now stands for its own. */
export function foldAll(state: State, context: ScreenContext): State {
  return withFolds(state, context, nodes => nodes.filter((node, at) => node.depth > 0 && hasChildren(node, at)))
}

/** `_`: folds everything that is neither above nor below the cursor. */
export function foldOthers(state: State, context: ScreenContext): State {
  const place = placeOf(state, context)
  if (place === undefined) return state
  const path = new Set(pathTo(place.open.nodes, place.at))
  return withFolds(state, context, nodes =>
    nodes.filter((node, at) => {
      const isBelow = at > place.at && at < place.node.end
      return node.depth > 0 && hasChildren(node, at) && !isBelow && !path.has(at)
    }),
  )
}

/** `=`: unfolds everything; pressed again, opens all groups too. */
export function unfoldAll(state: State, context: ScreenContext): State {
  if (state.folded.size > 0) return { ...state, folded: new Set() }
  const closed = [...context.listing.groups.values()].filter(({ isOpen }) => !isOpen)
  if (closed.length === 0) return withNotice(state, context, 'everything is unfolded')
  return { ...state, openGroups: new Set([...state.openGroups, ...closed.map(({ key }) => key)]) }
}

/** The state with the rows above a node unfolded, and the cursor on it in the middle of the screen. */
export function withNodeShown(state: State, { nodes }: OpenStream, at: number, height: number): State {
  const key = nodes[at]?.key
  if (key === undefined) return state
  const above = pathTo(nodes, at).slice(0, -1)
  const folded = new Set(state.folded)
  for (const each of above) folded.delete(nodes[each]?.key ?? '')
  const list = { cursor: key, offset: Math.floor(height / 2), moves: state.lists.stream.moves + 1 }
  return { ...state, folded, lists: { ...state.lists, stream: { ...state.lists.stream, ...list } } }
}

function withFolds(
  state: State,
  context: ScreenContext,
  foldedOf: (nodes: readonly TreeNode[]) => readonly TreeNode[],
): State {
  const open = openStreamOf(state, context)
  if (open === undefined) return state
  const folded = new Set(foldedOf(open.nodes).map(({ key }) => key))
  const next = { ...state, folded, openGroups: new Set<string>() }
  const group = groupUnderCursor(state, context)
  const at = group?.parent ?? placeOf(state, context)?.at
  if (at === undefined) return next
  const path = pathTo(open.nodes, at)
  const shown = path.find(each => folded.has(open.nodes[each]?.key ?? '')) ?? at
  return withList(next, { cursor: open.nodes[shown]?.key })
}

/** Positions of the rows above a node, from its root, and its own. */
function pathTo(nodes: readonly TreeNode[], at: number): number[] {
  const path: number[] = []
  for (let each = at; each >= 0; each = nodes[each]?.parent ?? -1) path.push(each)
  return path.reverse()
}

interface Place {
  readonly open: OpenStream
  readonly at: number
  readonly node: TreeNode
}

function placeOf(state: State, context: ScreenContext): Place | undefined {
  const open = openStreamOf(state, context)
  const key = cursorKey(state, context)
  const at = open?.nodes.findIndex(node => node.key === key) ?? -1
  const node = open?.nodes[at]
  return open !== undefined && node !== undefined ? { open, at, node } : undefined
}

function groupUnderCursor(state: State, context: ScreenContext): RowGroup | undefined {
  return context.listing.groups.get(cursorKey(state, context) ?? '')
}

function isParent({ node, at }: Place): boolean {
  return hasChildren(node, at)
}

function hasChildren({ end }: TreeNode, at: number): boolean {
  return end > at + 1
}

function withFoldToggled(state: State, { key }: TreeNode): State {
  return { ...state, folded: withToggled(state.folded, key) }
}

function withGroupToggled(state: State, { key }: RowGroup): State {
  return { ...state, openGroups: withToggled(state.openGroups, key) }
}

function withToggled(keys: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(keys)
  if (!next.delete(key)) next.add(key)
  return next
}

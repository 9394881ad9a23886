import type { OpenStream, TreeNode } from '../data/types.ts'
import type { World } from './context.ts'
import { cursorIndex, movedBy, movedToKey } from './cursor.ts'
import type { State } from './state.ts'
import { openStreamOf } from './subject.ts'

/** `h`: folds what is below the cursor; where nothing is, or it is folded, goes to what is above. */
export function foldedOrUp(state: State, world: World): State {
  const place = placeOf(state, world)
  if (place === undefined) return state
  if (isParent(place) && !state.folded.has(place.node.key)) return toggled(state, place.node)
  return movedToKey(state, world, parentOf(place)?.key)
}

/** `l`: unfolds what is below the cursor, or goes to the first row of it. */
export function unfoldedOrDown(state: State, world: World): State {
  const place = placeOf(state, world)
  if (place === undefined || !isParent(place)) return state
  if (state.folded.has(place.node.key)) return toggled(state, place.node)
  const next = world.listing.keys[cursorIndex(state, world) + 1]
  const isBelow = place.open.nodes.slice(place.at + 1, place.node.end).some(({ key }) => key === next)
  return isBelow ? movedBy(state, world, 1) : state
}

/** `enter`: folds or unfolds. */
export function foldToggled(state: State, world: World): State {
  const place = placeOf(state, world)
  return place !== undefined && isParent(place) ? toggled(state, place.node) : state
}

interface Place {
  readonly open: OpenStream
  readonly at: number
  readonly node: TreeNode
}

function placeOf(state: State, world: World): Place | undefined {
  const open = openStreamOf(state, world)
  const key = world.listing.keys[cursorIndex(state, world)]
  const at = open?.nodes.findIndex(node => node.key === key) ?? -1
  const node = open?.nodes[at]
  return open !== undefined && node !== undefined ? { open, at, node } : undefined
}

function isParent({ node, at }: Place): boolean {
  return node.end > at + 1
}

function parentOf({ open, at, node }: Place): TreeNode | undefined {
  for (let above = at - 1; above >= 0; above--) {
    const candidate = open.nodes[above]
    if (candidate !== undefined && candidate.depth < node.depth) return candidate
  }
  return undefined
}

function toggled(state: State, { key }: TreeNode): State {
  const folded = new Set(state.folded)
  if (!folded.delete(key)) folded.add(key)
  return { ...state, folded }
}

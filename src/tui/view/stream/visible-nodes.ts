import type { StreamEvent } from '../../../stream/event.ts'
import type { OpenStream, TreeNode } from '../../data/types.ts'
import type { RowGroup, Scene } from '../../state/context.ts'
import type { ListWindow } from '../window.ts'
import { positionsOf } from './open.ts'

/** A visible row of the tree. */
export interface VisibleNode {
  readonly node: TreeNode
  readonly event: StreamEvent | undefined
  /** Position of the node in the whole tree. */
  readonly at: number
  readonly isCursor: boolean
  readonly isFaint: boolean
  readonly isMarked: boolean
  /** Set for a row that stands for many events; `node` is that above them. */
  readonly group?: RowGroup
  /** `folded` if rows below it are hidden, `open` if they are shown. */
  readonly fold: 'none' | 'open' | 'folded'
}

/** The rows of the tree in a window. Costs the rows, not the tree. */
export function visibleNodes(scene: Scene, open: OpenStream, { keys, from, cursor }: ListWindow): VisibleNode[] {
  const { listing, state } = scene
  const positions = positionsOf(open.nodes)
  return keys.flatMap((key, nth) => {
    const group = listing.groups.get(key)
    const at = group?.parent ?? positions.get(key) ?? -1
    const node = open.nodes[at]
    if (node === undefined) return []
    const row = { node, at, isCursor: key === cursor, isMarked: state.lists.stream.marks.has(key) }
    if (group !== undefined) {
      return { ...row, group, event: undefined, isFaint: false, fold: group.isOpen ? 'open' : 'folded' } as const
    }
    const next = positions.get(listing.keys[from + nth + 1] ?? '') ?? -1
    const isOpen = next > at && next < node.end
    return {
      ...row,
      event: open.event(node.id),
      isFaint: listing.isFaint(key),
      fold: node.end <= at + 1 ? 'none' : isOpen ? 'open' : 'folded',
    }
  })
}

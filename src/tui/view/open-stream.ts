import type { ShownStream } from '../../formats/stream-view.ts'
import type { OpenStream, TreeNode } from '../data/types.ts'
import type { Scene } from '../ui/world.ts'

/** The open stream, if it is the one whose screen is shown. */
export function openOf({ data, state }: Pick<Scene, 'data' | 'state'>): OpenStream | undefined {
  return data.open?.name === state.stream ? data.open : undefined
}

/** The open stream as pictures of streams take it; `undefined` before its document was read. */
export function shownOf(open: OpenStream | undefined, nowMs: number): ShownStream | undefined {
  if (open?.view === undefined) return undefined
  const { name, view } = open
  const lease = open.listed?.lease ?? { state: 'available' }
  const { stream, time, document } = view
  return { name, version: document.version, lease, stream, time, nowMs: clockOf(open, nowMs) }
}

/** The time by which it is shown: what is gone ages no more. */
export function clockOf({ presence, view }: OpenStream, nowMs: number): number {
  return presence === 'gone' && view !== undefined ? view.nowMs : nowMs
}

const POSITIONS = new WeakMap<readonly TreeNode[], ReadonlyMap<string, number>>()

/** Where the nodes of a tree stand, by key. Made once for each form of the tree. */
export function positionsOf(nodes: readonly TreeNode[]): ReadonlyMap<string, number> {
  const known = POSITIONS.get(nodes)
  if (known !== undefined) return known
  const made = new Map(nodes.map(({ key }, at) => [key, at]))
  POSITIONS.set(nodes, made)
  return made
}

import type { OpenStream, TreeNode } from '../../data/types.ts'
import type { Scene } from '../../state/context.ts'

/** The open stream, if its screen is the displayed one. */
export function openOf({ data, state }: Pick<Scene, 'data' | 'state'>): OpenStream | undefined {
  return data.open?.name === state.stream ? data.open : undefined
}

const POSITIONS = new WeakMap<readonly TreeNode[], ReadonlyMap<string, number>>()

/** Positions of the tree nodes by key, cached per tree. */
export function positionsOf(nodes: readonly TreeNode[]): ReadonlyMap<string, number> {
  const known = POSITIONS.get(nodes)
  if (known !== undefined) return known
  const made = new Map(nodes.map(({ key }, at) => [key, at]))
  POSITIONS.set(nodes, made)
  return made
}

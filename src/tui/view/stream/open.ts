import { cached } from '../../cached.ts'
import type { OpenStream, TreeNode } from '../../data/types.ts'
import type { Scene } from '../../state/context.ts'

/** The open stream, if its screen is the displayed one. */
export function openOf({ data, state }: Pick<Scene, 'data' | 'state'>): OpenStream | undefined {
  return data.open?.name === state.stream ? data.open : undefined
}

/** Positions of the tree nodes by key. */
export const positionsOf = cached(
  (nodes: readonly TreeNode[]): ReadonlyMap<string, number> => new Map(nodes.map(({ key }, at) => [key, at])),
)

import type { Scene } from '../state/context.ts'
import { cursorIndex } from '../state/cursor.ts'
import { windowTop } from '../state/layout.ts'

/** The visible part of a list. */
export interface ListWindow {
  readonly keys: readonly string[]
  /** Position of the first of them in the list. */
  readonly from: number
  /** The key under the cursor, visible or not; `undefined` in an empty list. */
  readonly cursor: string | undefined
}

/** The rows of the current list that fit into `height`. Costs the rows, not the list. */
export function listWindow(scene: Pick<Scene, 'state' | 'listing'>, height: number): ListWindow {
  const { state, listing } = scene
  const at = cursorIndex(state, scene)
  const from = Math.max(0, windowTop(at, state.lists[state.screen].offset, height, listing.keys.length))
  return { keys: listing.keys.slice(from, from + Math.max(0, height)), from, cursor: listing.keys[at] }
}

import type { Scene } from '../state/context.ts'
import { cursorIndex } from '../state/cursor.ts'
import { windowTop } from '../state/layout.ts'

/** The part of a list that is seen. */
export interface ListWindow {
  readonly keys: readonly string[]
  /** Where the first of them stands in the list. */
  readonly from: number
  /** The key under the cursor, wherever it is; `undefined` in an empty list. */
  readonly cursor: string | undefined
}

/** What of the list of the current screen is seen in so many rows. Costs the rows, not the list. */
export function listWindow(scene: Pick<Scene, 'state' | 'listing'>, height: number): ListWindow {
  const { state, listing } = scene
  const at = cursorIndex(state, scene)
  const from = Math.max(0, windowTop(at, state.lists[state.screen].offset, height, listing.keys.length))
  return { keys: listing.keys.slice(from, from + Math.max(0, height)), from, cursor: listing.keys[at] }
}

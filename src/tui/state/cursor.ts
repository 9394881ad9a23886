import type { World } from './context.ts'
import { layoutOf, listHeight, windowTop } from './layout.ts'
import type { State } from './state.ts'
import { clamp, listOf, withList } from './transition.ts'

/** Where the cursor stands: with its row, or where that row was. 0 in an empty list. */
export function cursorIndex(state: Pick<State, 'lists' | 'screen'>, { listing }: Pick<World, 'listing'>): number {
  const { cursor, index } = listOf(state)
  const found = cursor === undefined ? 0 : listing.indexOf(cursor)
  return clamp(found < 0 ? index : found, 0, Math.max(0, listing.keys.length - 1))
}

/** The name under the cursor; `undefined` in an empty list. */
export function cursorKey(state: Pick<State, 'lists' | 'screen'>, world: Pick<World, 'listing'>): string | undefined {
  return world.listing.keys[cursorIndex(state, world)]
}

/** Rows of the list that fit on the screen. */
export function heightOf(state: State): number {
  return listHeight(layoutOf(state))
}

/** Moves the cursor by so many rows, as far as the list goes. */
export function movedBy(state: State, world: World, rows: number): State {
  const from = cursorIndex(state, world)
  const to = clamp(from + rows, 0, Math.max(0, world.listing.keys.length - 1))
  return movedTo(state, world, to, shownAt(state, world) + to - from)
}

/** Moves list and cursor by a screen but for one row: what was at the edge is seen again. */
export function movedByPages(state: State, world: World, pages: number): State {
  const to = cursorIndex(state, world) + pages * Math.max(1, heightOf(state) - 1)
  return movedTo(state, world, to, shownAt(state, world))
}

/** Puts the cursor on a row of the list, `offset` rows below the top of the window as far as the list allows. */
export function movedTo(state: State, world: World, to: number, offset: number): State {
  const { keys } = world.listing
  if (keys.length === 0) return state
  const index = clamp(to, 0, keys.length - 1)
  const height = heightOf(state)
  const shown = index - windowTop(index, offset, height, keys.length)
  return withList(state, {
    cursor: keys[index],
    index,
    offset: clamp(shown, 0, Math.max(0, height - 1)),
    moves: listOf(state).moves + 1,
  })
}

/** Puts the cursor on the row with this name, moving the window no more than needed; nothing happens when it is not there. */
export function movedToKey(state: State, world: World, key: string | undefined): State {
  const to = key === undefined ? -1 : world.listing.indexOf(key)
  return to < 0 ? state : movedBy(state, world, to - cursorIndex(state, world))
}

/** Rows of the list that are seen above the cursor. */
function shownAt(state: State, world: World): number {
  const index = cursorIndex(state, world)
  return index - windowTop(index, listOf(state).offset, heightOf(state), world.listing.keys.length)
}

/**
 * Keeps in mind where the cursor's row stands now, so that its place is known when it goes; a row that went is followed by
 * the one in its place. While a filter is typed the cursor waits for its row to come back.
 */
export function settled(state: State, world: World): State {
  const { cursor, index } = listOf(state)
  if (cursor === undefined || world.listing.keys.length === 0 || state.prompt?.kind === 'filter') return state
  const at = cursorIndex(state, world)
  const key = world.listing.keys[at]
  return at === index && key === cursor ? state : withList(state, { cursor: key, index: at })
}

import { counted, countText } from '../../formats/terminal/numbers.ts'
import type { OpenStream, TreeNode } from '../data/types.ts'
import type { CommandContext } from '../ports.ts'
import type { World } from './context.ts'
import { layoutOf, listHeight, windowTop } from './layout.ts'
import { SORTS, type Sort, type State } from './state.ts'
import { clamp, listOf, noted, withList } from './transition.ts'

/** Position of the cursor: its row, or where that row was. 0 in an empty list. */
export function cursorIndex(state: Pick<State, 'lists' | 'screen'>, { listing }: Pick<World, 'listing'>): number {
  const { cursor, index } = listOf(state)
  const found = cursor === undefined ? 0 : listing.indexOf(cursor)
  return clamp(found < 0 ? index : found, 0, Math.max(0, listing.keys.length - 1))
}

/** Key of the row under the cursor; `undefined` in an empty list. */
export function cursorKey(state: Pick<State, 'lists' | 'screen'>, world: Pick<World, 'listing'>): string | undefined {
  return world.listing.keys[cursorIndex(state, world)]
}

/** Rows of the list that fit on the screen. */
export function heightOf(state: State): number {
  return listHeight(layoutOf(state))
}

/** Moves the cursor by a number of rows, within the list. */
export function movedBy(state: State, world: World, rows: number): State {
  const from = cursorIndex(state, world)
  const to = clamp(from + rows, 0, Math.max(0, world.listing.keys.length - 1))
  return movedTo(state, world, to, shownAt(state, world) + to - from)
}

/** Moves list and cursor by a screen minus one row, which stays visible. */
export function movedByPages(state: State, world: World, pages: number): State {
  const to = cursorIndex(state, world) + pages * Math.max(1, heightOf(state) - 1)
  return movedTo(state, world, to, shownAt(state, world))
}

/** Puts the cursor on a row, `offset` rows below the top of the window if the list allows. */
function movedTo(state: State, world: World, to: number, offset: number): State {
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

/** Puts the cursor on the row with this key, moving the window as little as possible; no change if it is absent. */
export function movedToKey(state: State, world: World, key: string | undefined): State {
  const to = key === undefined ? -1 : world.listing.indexOf(key)
  return to < 0 ? state : movedBy(state, world, to - cursorIndex(state, world))
}

/** Rows visible above the cursor. */
function shownAt(state: State, world: World): number {
  const index = cursorIndex(state, world)
  return index - windowTop(index, listOf(state).offset, heightOf(state), world.listing.keys.length)
}

/**
 * Remembers the position of the cursor's row, in case the row disappears; then the row in its place gets the cursor.
 * While a filter is typed the cursor waits for its row to reappear.
 */
export function settled(state: State, world: World): State {
  const { cursor, index } = listOf(state)
  if (cursor === undefined || world.listing.keys.length === 0 || state.prompt?.kind === 'filter') return state
  const at = cursorIndex(state, world)
  const key = world.listing.keys[at]
  return at === index && key === cursor ? state : withList(state, { cursor: key, index: at })
}

/** The stream of the row under the cursor, on screens that list streams or parts of streams. */
export function streamUnderCursor(state: State, world: World): string | undefined {
  const key = cursorKey(state, world)
  if (key === undefined || state.screen !== 'activity') return key
  return world.data.activity.items.find(item => item.key === key)?.stream
}

/** The data of the second screen's stream; `undefined` while that of another one is loaded. */
export function openStreamOf(state: State, { data }: Pick<World, 'data'>): OpenStream | undefined {
  return data.open?.name === state.stream ? data.open : undefined
}

/** The tree node under the cursor. */
function nodeUnderCursor(state: State, world: World): TreeNode | undefined {
  const key = cursorKey(state, world)
  return key === undefined ? undefined : openStreamOf(state, world)?.nodes.find(node => node.key === key)
}

/** The subject of the equivalent command line. */
export function subjectOf(state: State, world: World): CommandContext {
  const { screen, pane, stream } = state
  if (screen === 'streams') return { kind: 'streams', filter: listOf(state).filter }
  if (screen !== 'stream') return { kind: screen }
  const node = pane === 'tree' ? nodeUnderCursor(state, world) : undefined
  if (node === undefined || isRoot(node, openStreamOf(state, world))) return { kind: 'stream', stream, pane }
  return { kind: 'event', stream, event: node.id }
}

/** The root means the whole stream. */
export function isRoot({ id }: TreeNode, open: OpenStream | undefined): boolean {
  return id === open?.nodes[0]?.id
}

/** Toggles the mark of the row under the cursor and moves one down. */
export function marked(state: State, world: World): State {
  const key = cursorKey(state, world)
  if (key === undefined) return state
  const marks = new Set(listOf(state).marks)
  if (!marks.delete(key)) marks.add(key)
  return movedBy(withList(state, { marks }), world, 1)
}

/** Marks all rows that match the filter, and says how many. */
export function markedAll(state: State, world: World): State {
  const { keys, isFaint } = passing(world)
  const rows = keys.filter(key => !isFaint(key))
  const marks = new Set([...listOf(state).marks, ...rows])
  const inAll = marks.size > rows.length ? `, ${countText(marks.size)} in all` : ''
  const soFar = state.screen === 'streams' && !world.data.streams.isComplete ? '; the list is not complete yet' : ''
  return noted(withList(state, { marks }), world, `marked ${counted(rows.length, 'row')}${inAll}${soFar}`)
}

export function withoutMarks(state: State): State {
  return listOf(state).marks.size === 0 ? state : withList(state, { marks: new Set() })
}

/** To the next or previous row that matches the filter, wrapping around. */
export function matched(state: State, world: World, by: 1 | -1): State {
  if (listOf(state).filter === '') return noted(state, world, 'no filter: / sets one')
  const { keys, isFaint } = passing(world)
  const from = cursorIndex(state, world)
  for (let step = 1; step <= keys.length; step++) {
    const at = (from + by * step + keys.length) % keys.length
    const key = keys[at]
    if (key !== undefined && !isFaint(key)) return movedBy(state, world, at - from)
  }
  return noted(state, world, 'nothing matches the filter')
}

/** Sorts by the next column; after the last one by the default order. */
export function sortedByNext(state: State, world: World): State {
  const columns: readonly string[] = SORTS[state.screen]
  const by = columns[columns.indexOf(sortOf(state).by) + 1]
  const sort = by === undefined ? undefined : { by, isDescending: false }
  return withSort(state, world, sort)
}

/** Reverses the order. */
export function reversed(state: State, world: World): State {
  const { by, isDescending } = sortOf(state)
  return withSort(state, world, { by, isDescending: !isDescending })
}

function sortOf(state: State): Sort {
  return listOf(state).sort ?? { by: SORTS[state.screen][0] ?? '', isDescending: false }
}

function withSort(state: State, world: World, sort: Sort | undefined): State {
  const next = withList(state, { sort })
  const { by, isDescending } = sortOf(next)
  return noted(next, world, `sorted by ${by}${isDescending ? ', reversed' : ''}`)
}

/** To the first or the last row. */
export function movedToEnd(state: State, world: World, end: 'first' | 'last'): State {
  return end === 'first' ? movedTo(state, world, 0, 0) : movedTo(state, world, world.listing.keys.length - 1, Infinity)
}

function passing({ listing }: World) {
  return { keys: listing.keys, isFaint: (key: string) => listing.isFaint(key) }
}

import { counted, countText } from '../../formats/terminal/numbers.ts'
import type { OpenStream, TreeNode } from '../data/types.ts'
import type { CommandContext } from '../ports.ts'
import type { World } from './context.ts'
import { layoutOf, listHeight, windowTop } from './layout.ts'
import { SORTS, type Sort, type State } from './state.ts'
import { clamp, listOf, noted, withList } from './transition.ts'

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

/** The stream of the row under the cursor, on the screens that list streams or what belongs to one. */
export function streamUnderCursor(state: State, world: World): string | undefined {
  const key = cursorKey(state, world)
  if (key === undefined || state.screen !== 'activity') return key
  return world.data.activity.items.find(item => item.key === key)?.stream
}

/** What is known of the stream of the second screen; `undefined` while that is still another one. */
export function openStreamOf(state: State, { data }: Pick<World, 'data'>): OpenStream | undefined {
  return data.open?.name === state.stream ? data.open : undefined
}

/** The tree node under the cursor. */
function nodeUnderCursor(state: State, world: World): TreeNode | undefined {
  const key = cursorKey(state, world)
  return key === undefined ? undefined : openStreamOf(state, world)?.nodes.find(node => node.key === key)
}

/** What the command line that shows the same is about. */
export function subjectOf(state: State, world: World): CommandContext {
  const { screen, pane, stream } = state
  if (screen === 'streams') return { kind: 'streams', filter: listOf(state).filter }
  if (screen !== 'stream') return { kind: screen }
  const node = pane === 'tree' ? nodeUnderCursor(state, world) : undefined
  if (node === undefined || isRoot(node, openStreamOf(state, world))) return { kind: 'stream', stream, pane }
  return { kind: 'event', stream, event: node.id }
}

/** Stands for the stream as a whole. */
export function isRoot({ id }: TreeNode, open: OpenStream | undefined): boolean {
  return id === open?.nodes[0]?.id
}

/** Marks the row under the cursor, or takes the mark away, and goes one down. */
export function marked(state: State, world: World): State {
  const key = cursorKey(state, world)
  if (key === undefined) return state
  const marks = new Set(listOf(state).marks)
  if (!marks.delete(key)) marks.add(key)
  return movedBy(withList(state, { marks }), world, 1)
}

/** Marks all rows that pass the filter, and says how many. */
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

/** To the next row that passes the filter, or to the one before, beyond the ends too. */
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

/** By the next column; behind the last one stands the first again, the usual order. */
export function sortedByNext(state: State, world: World): State {
  const columns: readonly string[] = SORTS[state.screen]
  const by = columns[columns.indexOf(sortOf(state).by) + 1]
  const sort = by === undefined ? undefined : { by, isDescending: false }
  return withSort(state, world, sort)
}

/** Turns the order round. */
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
  return noted(next, world, `sorted by ${by}${isDescending ? ', turned round' : ''}`)
}

/** To the first row or the last. */
export function movedToEnd(state: State, world: World, end: 'first' | 'last'): State {
  return end === 'first' ? movedTo(state, world, 0, 0) : movedTo(state, world, world.listing.keys.length - 1, Infinity)
}

function passing({ listing }: World) {
  return { keys: listing.keys, isFaint: (key: string) => listing.isFaint(key) }
}

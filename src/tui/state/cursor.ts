import { spacedCount, spacedCounted } from '../../formats/terminal/numbers.ts'
import type { OpenStream, TreeNode } from '../data/types.ts'
import type { ChangeTarget, CommandContext } from '../ports.ts'
import { sortOf, withSortOf } from './columns.ts'
import type { ScreenContext } from './context.ts'
import { layoutOf, listHeight, windowTop } from './layout.ts'
import { placeOfInbox } from './lists/inbox-list.ts'
import { targetOfRow } from './lists/row-target.ts'
import { placeInSubscription } from './lists/subscription-list.ts'
import { type ColumnList, SORTS, type Sort, type State } from './state.ts'
import { clamp, listOf, withList, withNotice } from './transition.ts'

/** Position of the cursor: its row, or where that row was. 0 in an empty list. */
export function cursorIndex(
  state: Pick<State, 'lists' | 'screen'>,
  { listing }: Pick<ScreenContext, 'listing'>,
): number {
  const { cursor, index } = listOf(state)
  const found = cursor === undefined ? 0 : listing.indexOf(cursor)
  return clamp(found < 0 ? index : found, 0, Math.max(0, listing.keys.length - 1))
}

/** Key of the row under the cursor; `undefined` in an empty list. */
export function cursorKey(
  state: Pick<State, 'lists' | 'screen'>,
  context: Pick<ScreenContext, 'listing'>,
): string | undefined {
  return context.listing.keys[cursorIndex(state, context)]
}

/** Rows of the list that fit on the screen. */
export function heightOf(state: State): number {
  return listHeight(layoutOf(state))
}

/** Moves the cursor by a number of rows, within the list. */
export function moveBy(state: State, context: ScreenContext, rows: number): State {
  const from = cursorIndex(state, context)
  const to = clamp(from + rows, 0, Math.max(0, context.listing.keys.length - 1))
  return moveTo(state, context, to, rowsAboveCursor(state, context) + to - from)
}

/** Moves list and cursor by a screen minus one row, which stays visible. */
export function moveByPages(state: State, context: ScreenContext, pages: number): State {
  const to = cursorIndex(state, context) + pages * Math.max(1, heightOf(state) - 1)
  return moveTo(state, context, to, rowsAboveCursor(state, context))
}

/** Moves list and cursor by half a screen. */
export function moveByHalfPages(state: State, context: ScreenContext, pages: number): State {
  const to = cursorIndex(state, context) + pages * Math.max(1, Math.floor(heightOf(state) / 2))
  return moveTo(state, context, to, rowsAboveCursor(state, context))
}

/** Moves the list so that the row under the cursor is in the middle of the screen. */
export function centerCursor(state: State, context: ScreenContext): State {
  return moveTo(state, context, cursorIndex(state, context), Math.floor(heightOf(state) / 2))
}

/** Puts the cursor on a row, `offset` rows below the top of the window if the list allows. */
function moveTo(state: State, context: ScreenContext, to: number, offset: number): State {
  const { keys } = context.listing
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
export function moveToKey(state: State, context: ScreenContext, key: string | undefined): State {
  const to = key === undefined ? -1 : context.listing.indexOf(key)
  return to < 0 ? state : moveBy(state, context, to - cursorIndex(state, context))
}

/** Rows visible above the cursor. */
function rowsAboveCursor(state: State, context: ScreenContext): number {
  const index = cursorIndex(state, context)
  return index - windowTop(index, listOf(state).offset, heightOf(state), context.listing.keys.length)
}

/**
 * Remembers the position of the cursor's row, in case the row disappears; then the row in its place gets the cursor.
 * While a filter is typed the cursor waits for its row to reappear.
 */
export function rememberCursor(state: State, context: ScreenContext): State {
  const { cursor, index } = listOf(state)
  if (cursor === undefined || context.listing.keys.length === 0 || state.prompt?.kind === 'filter') return state
  const at = cursorIndex(state, context)
  const key = context.listing.keys[at]
  return at === index && key === cursor ? state : withList(state, { cursor: key, index: at })
}

/** The stream of the row under the cursor, and its event if the row is about one, on screens that list them. */
export function targetUnderCursor(state: State, context: ScreenContext): ChangeTarget | undefined {
  const { screen } = state
  const key = cursorKey(state, context)
  return key === undefined || screen === 'stream' ? undefined : targetOfRow(screen, key, context.data)
}

/** The data of the second screen's stream; `undefined` while that of another one is loaded. */
export function openStreamOf(state: State, { data }: Pick<ScreenContext, 'data'>): OpenStream | undefined {
  return data.open?.name === state.stream ? data.open : undefined
}

/** The tree node under the cursor. */
function nodeUnderCursor(state: State, context: ScreenContext): TreeNode | undefined {
  const key = cursorKey(state, context)
  return key === undefined ? undefined : openStreamOf(state, context)?.nodes.find(node => node.key === key)
}

/** The subject of the equivalent command line. */
export function subjectOf(state: State, context: ScreenContext): CommandContext {
  const { screen, pane, stream } = state
  if (screen === 'streams') {
    const { filter, onlyBroken } = listOf(state)
    return { kind: 'streams', filter, ...(onlyBroken && { onlyBroken }) }
  }
  if (screen === 'subscriptions') return { kind: screen, ...placeInSubscription(cursorKey(state, context) ?? '') }
  if (screen === 'inboxes') return { kind: screen, ...placeOfInbox(cursorKey(state, context) ?? '') }
  if (screen !== 'stream') return { kind: screen }
  const node = pane === 'tree' ? nodeUnderCursor(state, context) : undefined
  if (node === undefined || isRoot(node, openStreamOf(state, context))) return { kind: 'stream', stream, pane }
  return { kind: 'event', stream, event: node.id }
}

/** The root means the whole stream. */
export function isRoot({ id }: TreeNode, open: OpenStream | undefined): boolean {
  return id === open?.nodes[0]?.id
}

/** Toggles the mark of the row under the cursor and moves one down. */
export function toggleMark(state: State, context: ScreenContext): State {
  const key = cursorKey(state, context)
  if (key === undefined) return state
  if (context.listing.groups.has(key)) return withNotice(state, context, 'a group cannot be marked: enter opens it')
  const marks = new Set(listOf(state).marks)
  if (!marks.delete(key)) marks.add(key)
  return moveBy(withList(state, { marks }), context, 1)
}

/** Marks all rows that match the filter, and says how many. */
export function markAll(state: State, context: ScreenContext): State {
  const { keys, isFaint } = matchingRows(context)
  const rows = keys.filter(key => !isFaint(key) && !context.listing.groups.has(key))
  const marks = new Set([...listOf(state).marks, ...rows])
  const inAll = marks.size > rows.length ? `, ${spacedCount(marks.size)} in all` : ''
  const soFar = state.screen === 'streams' && !context.data.streams.isComplete ? '; the list is not complete yet' : ''
  return withNotice(withList(state, { marks }), context, `marked ${spacedCounted(rows.length, 'row')}${inAll}${soFar}`)
}

export function withoutMarks(state: State): State {
  return listOf(state).marks.size === 0 ? state : withList(state, { marks: new Set() })
}

/** To the first row that matches the filter, unless the cursor is on one. */
export function goToFirstMatch(state: State, context: ScreenContext): State {
  const { keys, isFaint } = matchingRows(context)
  const { cursor } = listOf(state)
  if (cursor !== undefined && context.listing.indexOf(cursor) >= 0 && !isFaint(cursor)) return state
  return moveToKey(
    state,
    context,
    keys.find(each => !isFaint(each)),
  )
}

/** To the next or previous row that matches the filter, wrapping around. */
export function goToMatch(state: State, context: ScreenContext, by: 1 | -1): State {
  const { filter, onlyBroken } = listOf(state)
  if (filter === '' && !onlyBroken) return withNotice(state, context, 'no filter: / sets one')
  const { keys, isFaint } = matchingRows(context)
  const from = cursorIndex(state, context)
  for (let step = 1; step <= keys.length; step++) {
    const at = (from + by * step + keys.length) % keys.length
    const key = keys[at]
    if (key !== undefined && !isFaint(key)) return moveBy(state, context, at - from)
  }
  return withNotice(state, context, 'nothing matches the filter')
}

/** Sorts by the next column; after the last one by the default order. */
export function sortByNext(state: State, context: ScreenContext): State {
  const hasStores = context.facts.contexts.length > 0 && (state.screen === 'streams' || state.screen === 'leases')
  const columns: readonly string[] = [...SORTS[state.screen], ...(hasStores ? ['store'] : [])]
  const at = columns.indexOf(sortOf(state, state.screen).by)
  const by = at < 0 ? undefined : columns[at + 1]
  const sort = by === undefined ? undefined : { by, isDescending: false }
  return withSort(state, context, sort)
}

/** Sorts a list by a column, or the other way round if it is sorted so. */
export function sortBy(state: State, context: ScreenContext, by: string, list: ColumnList = state.screen): State {
  const now = sortOf(state, list)
  return withSort(state, context, { by, isDescending: now.by === by && !now.isDescending }, list)
}

/** Reverses the order. */
export function reverseSort(state: State, context: ScreenContext): State {
  const { by, isDescending } = sortOf(state, state.screen)
  return withSort(state, context, { by, isDescending: !isDescending })
}

/** With the beginning of the new order in view: that is what it was asked for. */
function withSort(
  state: State,
  context: ScreenContext,
  sort: Sort | undefined,
  list: ColumnList = state.screen,
): State {
  const sorted = withSortOf(state, list, sort)
  const next = list === state.screen ? withList(sorted, { cursor: undefined, offset: 0 }) : sorted
  const { by, isDescending } = sortOf(next, list)
  return withNotice(next, context, `sorted by ${by}${isDescending ? ', reversed' : ''}`)
}

/** To the first or the last row. */
export function moveToEnd(state: State, context: ScreenContext, end: 'first' | 'last'): State {
  return end === 'first'
    ? moveTo(state, context, 0, 0)
    : moveTo(state, context, context.listing.keys.length - 1, Infinity)
}

function matchingRows({ listing }: ScreenContext) {
  return { keys: listing.keys, isFaint: (key: string) => listing.isFaint(key) }
}

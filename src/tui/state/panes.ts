import type { OpenStream, TreeNode } from '../data/types.ts'
import type { ScreenContext } from './context.ts'
import { cursorIndex, cursorKey, moveBy, moveToKey, openStreamOf, targetUnderCursor } from './cursor.ts'
import type { Screen, State } from './state.ts'
import { xmlArea } from './text/focus.ts'
import { toLine } from './text/reading.ts'
import { START_DOCUMENT } from './text/text.ts'
import { lineOfEvent } from './text/xml.ts'
import { FRESH_LIST, listOf, only, type Transition, withList, withNotice } from './transition.ts'

/** The XML is a text: it has no rows of a list. */
export function isScrolled({ screen, pane }: Pick<State, 'screen' | 'pane'>): boolean {
  return screen === 'stream' && pane === 'xml'
}

/** `h`: folds the rows below the cursor; if there are none or they are folded, goes to the parent. */
export function foldOrGoUp(state: State, context: ScreenContext): State {
  const place = placeOf(state, context)
  if (place === undefined) return state
  if (isParent(place) && !state.folded.has(place.node.key)) return withFoldToggled(state, place.node)
  return moveToKey(state, context, parentOf(place)?.key)
}

/** `l`: unfolds the rows below the cursor, or goes to the first of them. */
export function unfoldOrGoDown(state: State, context: ScreenContext): State {
  const place = placeOf(state, context)
  if (place === undefined || !isParent(place)) return state
  if (state.folded.has(place.node.key)) return withFoldToggled(state, place.node)
  const next = context.listing.keys[cursorIndex(state, context) + 1]
  const isBelow = place.open.nodes.slice(place.at + 1, place.node.end).some(({ key }) => key === next)
  return isBelow ? moveBy(state, context, 1) : state
}

/** `enter`: folds or unfolds. */
export function toggleFold(state: State, context: ScreenContext): State {
  const place = placeOf(state, context)
  return place !== undefined && isParent(place) ? withFoldToggled(state, place.node) : state
}

interface Place {
  readonly open: OpenStream
  readonly at: number
  readonly node: TreeNode
}

function placeOf(state: State, context: ScreenContext): Place | undefined {
  const open = openStreamOf(state, context)
  const key = context.listing.keys[cursorIndex(state, context)]
  const at = open?.nodes.findIndex(node => node.key === key) ?? -1
  const node = open?.nodes[at]
  return open !== undefined && node !== undefined ? { open, at, node } : undefined
}

function isParent({ node, at }: Place): boolean {
  return node.end > at + 1
}

function parentOf({ open, at, node }: Place): TreeNode | undefined {
  for (let above = at - 1; above >= 0; above--) {
    const candidate = open.nodes[above]
    if (candidate !== undefined && candidate.depth < node.depth) return candidate
  }
  return undefined
}

function withFoldToggled(state: State, { key }: TreeNode): State {
  const folded = new Set(state.folded)
  if (!folded.delete(key)) folded.add(key)
  return { ...state, folded }
}

/** Switches to another screen, which unfreezes the display. */
export function showScreen(state: State, context: ScreenContext, screen: Screen): State {
  if (screen === state.screen) return state
  if (screen !== 'stream') return unfreeze({ ...state, screen })
  if (state.stream === '')
    return withNotice(state, context, 'no stream is open yet: enter opens the one under the cursor')
  return unfreeze({ ...state, screen, cameFrom: state.screen === 'stream' ? state.cameFrom : state.screen })
}

/** Opens the stream of the row under the cursor, on its event. Reopening the last stream keeps its cursor and folds. */
export function openStream(state: State, context: ScreenContext, pane: State['pane']): State {
  const target = targetUnderCursor(state, context)
  return target === undefined || state.screen === 'stream' ? state : openNamed(state, target.stream, pane, target.event)
}

/** Opens a stream by its name, on this event. */
export function openNamed(state: State, stream: string, pane: State['pane'] = 'tree', event?: string): State {
  const isSame = stream === state.stream
  const fresh = {
    ...state,
    lists: { ...state.lists, stream: FRESH_LIST },
    folded: new Set<string>(),
    xml: START_DOCUMENT,
  }
  const there = onEvent(isSame ? withPane(state, pane) : { ...fresh, pane }, event)
  const cameFrom = state.screen === 'stream' ? state.cameFrom : state.screen
  return unfreeze({ ...there, stream, screen: 'stream', cameFrom })
}

/** With the cursor of the tree on this event, which nothing hides. */
function onEvent(state: State, event: string | undefined): State {
  if (event === undefined) return state
  const stream = { ...state.lists.stream, cursor: event, filter: '' }
  return { ...state, lists: { ...state.lists, stream }, folded: new Set() }
}

/** Toggles timeline or XML; on other screens, opens that pane of the stream under the cursor. */
export function togglePane(state: State, context: ScreenContext, pane: 'timeline' | 'xml'): State {
  if (state.screen !== 'stream') return openStream(state, context, pane)
  if (state.pane === pane) return withPane(state, 'tree')
  return pane === 'xml' ? xmlAtCursor(state, context) : withPane(state, pane)
}

/** The XML at the line of the event under the cursor. */
function xmlAtCursor(state: State, context: ScreenContext): State {
  const next = withPane(state, 'xml')
  const key = cursorKey(state, context)
  const node = openStreamOf(state, context)?.nodes.find(found => found.key === key)
  const area = xmlArea(next, context)
  const line = node && lineOfEvent(area.text, node.id)
  return line === undefined ? next : { ...next, xml: toLine(next.xml, area, line) }
}

/** `F`: only what is broken, or all again. */
export function withOnlyBroken(state: State, onlyBroken: boolean): State {
  return withList(state, { onlyBroken, moves: listOf(state).moves + 1 })
}

/** `esc`: clears the filter or the search, then `F`, then leaves the pane, then the stream. */
export function back(state: State): Transition {
  const { filter, onlyBroken, moves } = listOf(state)
  if (isScrolled(state)) {
    if (state.xml.search === '') return only(withPane(state, 'tree'))
    return only({ ...state, xml: { ...state.xml, search: '' } })
  }
  if (filter !== '') return only(withList(state, { filter: '', moves: moves + 1 }))
  if (onlyBroken) return only(withOnlyBroken(state, false))
  if (state.screen !== 'stream') return only(state)
  if (state.pane !== 'tree') return only(withPane(state, 'tree'))
  return only(unfreeze({ ...state, screen: state.cameFrom ?? 'streams' }))
}

function withPane(state: State, pane: State['pane']): State {
  return pane === state.pane ? state : { ...state, pane, xml: START_DOCUMENT }
}

function unfreeze(state: State): State {
  return { ...state, frozen: undefined }
}

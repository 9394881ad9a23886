import type { ScreenContext } from './context.ts'
import { cursorKey, openStreamOf, targetUnderCursor } from './cursor.ts'
import { openingFrom, withOpening } from './opening.ts'
import type { Opening, Screen, State } from './state.ts'
import { xmlArea } from './text/focus.ts'
import { toLine } from './text/reading.ts'
import { START_DOCUMENT } from './text/text.ts'
import { lineOfEvent } from './text/xml.ts'
import { FRESH_LIST, listOf, only, type Transition, withList, withNotice } from './transition.ts'

/** The XML is a text: it has no rows of a list. */
export function isScrolled({ screen, pane }: Pick<State, 'screen' | 'pane'>): boolean {
  return screen === 'stream' && pane === 'xml'
}

/** Switches to another screen, which unfreezes the display. */
export function showScreen(state: State, context: ScreenContext, screen: Screen): State {
  if (screen === state.screen) return state
  if (screen !== 'stream') return unfreeze({ ...state, screen })
  if (state.stream === '')
    return withNotice(state, context, 'no stream is open yet: enter opens the one under the cursor')
  return unfreeze({ ...state, screen, cameFrom: state.screen === 'stream' ? state.cameFrom : state.screen })
}

/**
 * Opens the stream of the row under the cursor, on the event that the screen is about. Reopening the last stream keeps its
 * cursor, and folds are kept by the name of their stream.
 */
export function openStream(state: State, context: ScreenContext, pane: State['pane']): State {
  const target = targetUnderCursor(state, context)
  if (target === undefined || state.screen === 'stream') return state
  return openNamed(state, context, target.stream, pane, openingFrom(state, context, target))
}

/** Opens a stream by its name. */
export function openNamed(
  state: State,
  context: ScreenContext,
  stream: string,
  pane: State['pane'] = 'tree',
  opening?: Opening,
): State {
  const isSame = stream === state.stream
  const fresh = {
    ...withFoldsOf(state, stream),
    lists: { ...state.lists, stream: FRESH_LIST },
    zoom: undefined,
    xml: START_DOCUMENT,
  }
  const there = onEvent(isSame ? withPane(state, pane) : { ...fresh, pane }, opening)
  const cameFrom = state.screen === 'stream' ? state.cameFrom : state.screen
  const next = unfreeze({ ...there, stream, screen: 'stream', cameFrom, opening })
  return withOpening(next, context)
}

/** With the cursor of the tree on its event, which no filter hides. */
function onEvent(state: State, opening: Opening | undefined): State {
  if (opening?.kind !== 'event') return state
  const stream = { ...state.lists.stream, cursor: opening.id, filter: '', onlyBroken: false }
  return { ...state, lists: { ...state.lists, stream } }
}

/** Streams whose folds are remembered. */
const MOST_KEPT = 50

function withFoldsOf(state: State, stream: string): State {
  const { folded, openGroups } = state
  const kept = new Map(state.keptFolds)
  kept.delete(state.stream)
  if (folded.size + openGroups.size > 0) kept.set(state.stream, { folded, openGroups })
  const [oldest] = kept.keys()
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest)
  return { ...state, ...(kept.get(stream) ?? NO_FOLDS), keptFolds: kept }
}

const NO_FOLDS = { folded: new Set<string>(), openGroups: new Set<string>() }

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

import type { World } from './context.ts'
import type { Screen, State } from './state.ts'
import { streamUnderCursor } from './subject.ts'
import { FRESH_LIST, listOf, noted, only, type Step, withList } from './transition.ts'

/** To another of the five screens. A frozen picture is one of what was seen: it ends here. */
export function shown(state: State, world: World, screen: Screen): State {
  if (screen === state.screen) return state
  if (screen !== 'stream') return thawed({ ...state, screen })
  if (state.stream === '') return noted(state, world, 'no stream was opened yet: enter opens the one under the cursor')
  return thawed({ ...state, screen, cameFrom: state.screen === 'stream' ? state.cameFrom : state.screen })
}

/** Opens the stream of the row under the cursor. Cursor and folds of the one that was open last are kept. */
export function opened(state: State, world: World, pane: State['pane']): State {
  const stream = streamUnderCursor(state, world)
  if (stream === undefined || state.screen === 'stream') return state
  const isSame = stream === state.stream
  const fresh = { ...state, lists: { ...state.lists, stream: FRESH_LIST }, folded: new Set<string>(), paneTop: 0 }
  const there = isSame ? inPane(state, pane) : { ...fresh, pane }
  return thawed({ ...there, stream, screen: 'stream', cameFrom: state.screen })
}

/** Timeline or XML and back to the tree; on other screens that of the stream under the cursor. */
export function paneToggled(state: State, world: World, pane: 'timeline' | 'xml'): State {
  if (state.screen !== 'stream') return opened(state, world, pane)
  return inPane(state, state.pane === pane ? 'tree' : pane)
}

/** `esc`: clears the filter, then leaves the pane, then the stream. */
export function back(state: State): Step {
  const { filter, moves } = listOf(state)
  if (filter !== '') return only(withList(state, { filter: '', moves: moves + 1 }))
  if (state.screen !== 'stream') return only(state)
  if (state.pane !== 'tree') return only(inPane(state, 'tree'))
  return only(thawed({ ...state, screen: state.cameFrom ?? 'streams' }))
}

function inPane(state: State, pane: State['pane']): State {
  return pane === state.pane ? state : { ...state, pane, paneTop: 0 }
}

function thawed(state: State): State {
  return { ...state, frozen: undefined }
}

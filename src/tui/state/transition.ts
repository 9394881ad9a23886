import { visibleText } from '../../util/visible-text.ts'
import type { World } from './context.ts'
import { type Effect, type ListState, NOTICE_MS, type Notice, type State } from './state.ts'

/** What an action leads to: the next state, and what has to be done besides drawing. */
export type Transition = readonly [State, readonly Effect[]]

/** A state that asks for nothing. */
export function only(state: State, ...effects: readonly Effect[]): Transition {
  return [state, effects]
}

/** The state with a line about what was just done. The text is safe to print. */
export function noted(
  state: State,
  { nowMs }: Pick<World, 'nowMs'>,
  text: string,
  style: Notice['style'] = 'plain',
): State {
  return { ...state, notice: { text, style, untilMs: nowMs + NOTICE_MS } }
}

/** The list of the screen that is shown. */
export function listOf({ lists, screen }: Pick<State, 'lists' | 'screen'>): ListState {
  return lists[screen]
}

/** The state with another list on the screen that is shown. */
export function withList(state: State, change: Partial<ListState>): State {
  return { ...state, lists: { ...state.lists, [state.screen]: { ...listOf(state), ...change } } }
}

/** A list that nobody has touched. */
export const FRESH_LIST: ListState = {
  cursor: undefined,
  index: 0,
  offset: 0,
  filter: '',
  sort: undefined,
  marks: new Set(),
  moves: 0,
}

export function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most))
}

/** Hands a command line to the clipboard and says which. */
export function copied(state: State, world: World, text: string): Transition {
  return only(noted(state, world, `copied: ${visibleText(text)}`, 'good'), { kind: 'copy', text })
}

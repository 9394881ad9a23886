import type { World } from './context.ts'
import type { Effect, ListState, Notice, State } from './state.ts'
import { NOTICE_MS } from './state.ts'

/** What an action leads to: the next state, and what has to be done besides drawing. */
export type Step = readonly [State, readonly Effect[]]

/** A state that asks for nothing. */
export function only(state: State, ...effects: readonly Effect[]): Step {
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

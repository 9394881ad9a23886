import { visibleText } from '../../util/visible-text.ts'
import type { ScreenContext } from './context.ts'
import { type Effect, type ListState, NOTICE_MS, type Notice, type State } from './state.ts'

/** Result of an action: the next state, and side effects besides drawing. */
export type Transition = readonly [State, readonly Effect[]]

/** A transition to this state with these effects. */
export function only(state: State, ...effects: readonly Effect[]): Transition {
  return [state, effects]
}

/** The state with a notice. The text must be safe to print. */
export function withNotice(
  state: State,
  { nowMs }: Pick<ScreenContext, 'nowMs'>,
  text: string,
  style: Notice['style'] = 'plain',
): State {
  return { ...state, notice: { text, style, untilMs: nowMs + NOTICE_MS } }
}

/** With its notice until the next key: nobody may have looked for a while. */
export function untilKey(state: State): State {
  return state.notice === undefined
    ? state
    : { ...state, notice: { ...state.notice, untilMs: Number.POSITIVE_INFINITY } }
}

/** The list of the current screen. */
export function listOf({ lists, screen }: Pick<State, 'lists' | 'screen'>): ListState {
  return lists[screen]
}

/** The state with a changed list on the current screen. */
export function withList(state: State, change: Partial<ListState>): State {
  return { ...state, lists: { ...state.lists, [state.screen]: { ...listOf(state), ...change } } }
}

/** A list in its initial state. */
export const FRESH_LIST: ListState = {
  cursor: undefined,
  index: 0,
  offset: 0,
  filter: '',
  onlyBroken: false,
  sort: undefined,
  marks: new Set(),
  moves: 0,
}

export function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most))
}

/** Copies a command line to the clipboard and says so. */
export function copyText(state: State, context: ScreenContext, text: string): Transition {
  return only(withNotice(state, context, `copied: ${visibleText(text)}`, 'good'), { kind: 'copy', text })
}

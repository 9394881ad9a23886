import { runCommand } from './commands.ts'
import type { ScreenContext } from './context.ts'
import { cursorIndex, cursorKey, heightOf, moveBy, moveToKey, sortBy } from './cursor.ts'
import { dialogKey } from './dialogs.ts'
import { layoutOf, windowTop } from './layout.ts'
import { isScrolled, scrollTo } from './panes.ts'
import type { Action, KeyPress, State } from './state.ts'
import { listOf, only, type Transition } from './transition.ts'

type MouseAction = Extract<Action, { kind: 'mouse' }>

/** Rows per step of the wheel. */
const WHEEL_ROWS = 3

/** The wheel moves, a click selects a row, a second one opens it; a click on a title sorts by that column. */
export function useMouse(state: State, context: ScreenContext, action: MouseAction): Transition {
  const { button } = action
  if (state.dialog !== undefined) {
    // Only texts scroll: a dialog that asks is answered by keys.
    return button === 'left' || !('top' in state.dialog)
      ? only(state)
      : dialogKey(state, context, state.dialog, WHEEL_KEYS[button])
  }
  if (state.prompt !== undefined) return only(state)
  if (button === 'left') return click(state, context, action)
  const by = button === 'wheel-down' ? WHEEL_ROWS : -WHEEL_ROWS
  return only(isScrolled(state) ? scrollTo(state, context, state.paneTop + by) : moveBy(state, context, by))
}

const WHEEL_KEYS: { readonly [Of in 'wheel-up' | 'wheel-down']: KeyPress } = {
  'wheel-up': { key: 'up', text: undefined },
  'wheel-down': { key: 'down', text: undefined },
}

function click(state: State, context: ScreenContext, action: MouseAction): Transition {
  const key = action.key ?? keyAt(state, context, action.row)
  if (key === undefined || isScrolled(state)) return only(sortBy(state, context, titleAt(action)))
  if (key === cursorKey(state, context)) return runCommand(state, context, 'enter')
  return only(moveToKey(state, context, key))
}

/** The key of the row of a list that begins below the head. */
function keyAt(state: State, context: ScreenContext, row: number): string | undefined {
  if (state.screen === 'watchdog' || state.screen === 'workers') return undefined
  const { head, titles } = layoutOf(state)
  const height = heightOf(state)
  const at = row - head - titles
  if (at < 0 || at >= height) return undefined
  const { keys } = context.listing
  return keys[windowTop(cursorIndex(state, context), listOf(state).offset, height, keys.length) + at]
}

/** The word of the row that was clicked, if it is in capitals like the titles of columns. */
function titleAt({ text, column }: MouseAction): string {
  for (const { 0: title, index } of text.matchAll(/\S+(?: \S+)*/g)) {
    if (column >= index - 1 && column <= index + title.length) return title === title.toUpperCase() ? title : ''
  }
  return ''
}

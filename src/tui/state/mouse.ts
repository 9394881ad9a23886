import { sortOfTitle } from './columns.ts'
import { runCommand } from './commands.ts'
import type { ScreenContext } from './context.ts'
import { cursorIndex, cursorKey, heightOf, moveBy, moveToKey, sortBy } from './cursor.ts'
import { dialogKey } from './dialogs.ts'
import { HEALTH_PARTS, type HealthPart, showHealthPart } from './health-parts.ts'
import { layoutOf, windowTop } from './layout.ts'
import { isScrolled } from './panes.ts'
import type { Action, KeyPress, Screen, State } from './state.ts'
import { readingKey } from './text/keys.ts'
import { listOf, only, type Transition } from './transition.ts'

type MouseAction = Extract<Action, { kind: 'mouse' }>

/** Rows per step of the wheel. */
const WHEEL_ROWS = 3

/** The wheel moves, a click selects a row, a second one opens it; a click on a title sorts by that column. */
export function useMouse(state: State, context: ScreenContext, action: MouseAction): Transition {
  const { button } = action
  if (state.dialog !== undefined && state.page === undefined) {
    // Texts and lists scroll: a dialog that asks is answered by keys.
    if (button === 'left' || !('top' in state.dialog)) return only(state)
    const keys = state.dialog.kind === 'change' ? WHEEL_PAGES : WHEEL_KEYS
    return dialogKey(state, context, state.dialog, keys[button])
  }
  if (state.prompt !== undefined) return only(state)
  if (button === 'left') return state.page === undefined ? click(state, context, action) : only(state)
  const read = readingKey(state, context, WHEEL_KEYS[button])
  if (read !== undefined) return read
  return only(moveBy(state, context, button === 'wheel-down' ? WHEEL_ROWS : -WHEEL_ROWS))
}

const WHEEL_KEYS: { readonly [Of in 'wheel-up' | 'wheel-down']: KeyPress } = {
  'wheel-up': { key: 'up', text: undefined },
  'wheel-down': { key: 'down', text: undefined },
}

/** Steps would move from field to field. */
const WHEEL_PAGES: typeof WHEEL_KEYS = {
  'wheel-up': { key: 'pageup', text: undefined },
  'wheel-down': { key: 'pagedown', text: undefined },
}

function click(state: State, context: ScreenContext, action: MouseAction): Transition {
  const part = healthPartAt(state, action)
  if (part !== undefined) return only(showHealthPart(state, context, part))
  if (isScrolled(state)) return only(state)
  const key = action.key ?? keyAt(state, context, action.row)
  if (key === undefined) {
    const { titles: list } = action
    const by = list && sortOfTitle(list, titleAt(action))
    return only(by === undefined ? state : sortBy(state, context, by, list))
  }
  if (key === cursorKey(state, context)) return runCommand(state, context, 'enter', { key: 'enter', text: undefined })
  return only(moveToKey(state, context, key))
}

/** Screens with another list above that with the cursor, or below it. */
const BELOW_OTHERS: ReadonlySet<Screen> = new Set(['watchdog', 'workers', 'subscriptions', 'inboxes'])

/** The key of the row of a list that begins below the head. */
function keyAt(state: State, context: ScreenContext, row: number): string | undefined {
  if (BELOW_OTHERS.has(state.screen)) return undefined
  const { head, titles } = layoutOf(state)
  const height = heightOf(state)
  const at = row - head - titles
  if (at < 0 || at >= height) return undefined
  const { keys } = context.listing
  return keys[windowTop(cursorIndex(state, context), listOf(state).offset, height, keys.length) + at]
}

/** The number of the line of health that was clicked. */
function healthPartAt(state: State, action: MouseAction): HealthPart | undefined {
  const { head } = layoutOf(state)
  const hasHealth = state.screen === 'stream' ? head === 4 : head === 3
  if (!hasHealth || action.row !== 1) return undefined
  const text = textAt(action)
  return HEALTH_PARTS.find(({ glyph }) => text.startsWith(`${glyph} `))
}

/** The title of a column that was clicked, without the arrow of the order. */
function titleAt(action: MouseAction): string {
  return textAt(action).replace(/ [↑↓]$/, '')
}

/** The words of the row that were clicked, up to the next gap. */
function textAt({ text, column }: MouseAction): string {
  for (const { 0: words, index } of text.matchAll(/\S+(?: \S+)*/g)) {
    if (column >= index - 1 && column <= index + words.length) return words
  }
  return ''
}

import type { ScreenContext } from '../context.ts'
import { openStreamOf } from '../cursor.ts'
import { detailSize, isDetailRead, layoutOf, listHeight } from '../layout.ts'
import type { Size, State } from '../state.ts'
import type { TextArea } from './reading.ts'
import { type ReadableText, type Reading, textOfLines } from './text.ts'
import { xmlText } from './xml.ts'

/** The text that has the keys, with its place on the screen. */
export interface FocusedText {
  readonly where: 'page' | 'detail' | 'xml'
  readonly area: TextArea
  readonly reading: Reading
}

/** `undefined` where keys act on a list. */
export function focusedText(state: State, context: ScreenContext): FocusedText | undefined {
  const { page, dialog, size } = state
  if (page !== undefined) return { where: 'page', reading: page.reading, area: { text: page.text, ...pageRoom(size) } }
  if (dialog !== undefined) return undefined
  if (state.screen === 'stream' && state.pane === 'xml')
    return { where: 'xml', reading: state.xml, area: xmlArea(state, context) }
  return hasDetailFocus(state)
    ? { where: 'detail', reading: state.detail, area: detailArea(state, context) }
    : undefined
}

export function withReading(state: State, where: FocusedText['where'], reading: Reading): State {
  if (where !== 'page') return { ...state, [where]: reading }
  return state.page === undefined ? state : { ...state, page: { ...state.page, reading } }
}

/** Room for a text on the whole screen: between the rule with its title and the last line. */
function pageRoom({ columns, rows }: Size): Size {
  return { columns, rows: Math.max(1, rows - 3) }
}

/** The reason why a document cannot be read takes a row above it. */
export function xmlArea(state: State, context: ScreenContext): TextArea {
  const open = openStreamOf(state, context)
  const rows = listHeight(layoutOf(state)) - (open?.presence === 'unreadable' ? 1 : 0)
  return { text: xmlText(open), columns: state.size.columns, rows: Math.max(1, rows) }
}

/** Under the rule with the title of the row. */
export function detailArea(state: State, context: ScreenContext): TextArea {
  const text = context.detailOf(state) ?? NO_DETAIL
  const { columns, rows } = detailSize(state)
  return { text, columns, rows: Math.max(1, rows - 1) }
}

const NO_DETAIL: ReadableText = textOfLines([])

export function hasDetailFocus(state: State): boolean {
  return state.isDetailFocused && isDetailRead(state) && detailSize(state).rows > 0
}

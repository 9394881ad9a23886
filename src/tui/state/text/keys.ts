import type { ScreenContext } from '../context.ts'
import { cursorKey } from '../cursor.ts'
import { isDetailRead } from '../layout.ts'
import type { KeyPress, Prompt, State, TextSubject } from '../state.ts'
import { editField, fieldWith, pasteText } from '../text-field.ts'
import { only, type Transition, withNotice } from '../transition.ts'
import { detailArea, type FocusedText, focusedText, withReading } from './focus.ts'
import { readingAfterKey, settled, toMatch, withSearch } from './reading.ts'
import { START_READING } from './text.ts'

/** A key in the text that has the keys; `undefined` for one that it leaves to the screen. */
export function readingKey(state: State, context: ScreenContext, press: KeyPress): Transition | undefined {
  const focused = focusedText(state, context)
  if (focused === undefined) return undefined
  const { where, area, reading } = focused
  if (press.key === '/') return only(searchPrompt(state, focused))
  if (press.key === 'n' || press.key === 'N') return only(nextMatch(state, context, focused, press.key))
  const next = readingAfterKey(reading, area, press)
  if (next !== undefined) return only(withReading(state, where, next))
  if (where === 'page') return pageKey(state, context, press)
  return where === 'detail' ? detailKey(state, context, press) : undefined
}

function searchPrompt(state: State, { reading }: FocusedText): State {
  return { ...state, prompt: { kind: 'search', field: fieldWith(reading.search), before: reading } }
}

function nextMatch(state: State, context: ScreenContext, { where, area, reading }: FocusedText, key: 'n' | 'N'): State {
  if (reading.search === '') return withNotice(state, context, 'nothing to find: / sets it')
  const next = toMatch(reading, area, key === 'n' ? 1 : -1)
  return next === undefined ? withNotice(state, context, 'no line matches') : withReading(state, where, next)
}

type SearchPrompt = Extract<Prompt, { kind: 'search' }>

/** A key while the search is typed: the text shows the first match so far. */
export function searchKey(state: State, context: ScreenContext, prompt: SearchPrompt, press: KeyPress): Transition {
  const { key } = press
  if (key === 'enter') return only({ ...state, prompt: undefined })
  if (key === 'escape' || key === 'ctrl-c') {
    const focused = focusedText(state, context)
    const next = focused === undefined ? state : withReading(state, focused.where, prompt.before)
    return only({ ...next, prompt: undefined })
  }
  const field = editField(prompt.field, press)
  return only(field === undefined ? state : withField(state, context, prompt, field))
}

export function searchPaste(state: State, context: ScreenContext, prompt: SearchPrompt, text: string): State {
  return withField(state, context, prompt, pasteText(prompt.field, text))
}

function withField(state: State, context: ScreenContext, prompt: SearchPrompt, field: SearchPrompt['field']): State {
  const next = { ...state, prompt: { ...prompt, field } }
  const focused = focusedText(state, context)
  if (focused === undefined) return next
  return withReading(next, focused.where, withSearch(prompt.before, focused.area, field.text))
}

/** `esc` clears the search first. */
function pageKey(state: State, context: ScreenContext, { key }: KeyPress): Transition {
  const { page } = state
  if (page === undefined) return only(state)
  switch (key) {
    case 'escape':
    case 'backspace':
      if (page.reading.search !== '') return only(withReading(state, 'page', { ...page.reading, search: '' }))
      return only({ ...state, page: undefined })
    case 'q':
    case 'o':
    case 'enter':
    case 'ctrl-c':
      return only({ ...state, page: undefined })
    case 'C': {
      const text = page.text.lines.join('\n')
      return only(withNotice(state, context, `copied ${page.text.lines.length} lines`, 'good'), { kind: 'copy', text })
    }
    default:
      return only(state)
  }
}

function detailKey(state: State, context: ScreenContext, { key }: KeyPress): Transition | undefined {
  if (key === 'escape' && state.detail.search !== '') return only({ ...state, detail: { ...state.detail, search: '' } })
  if (key === 'tab' || key === 'escape') return only({ ...state, isDetailFocused: false })
  return key === 'enter' ? only(openRow(state, context)) : undefined
}

/** Gives the keys to the open details. */
export function focusDetail(state: State, context: ScreenContext): State {
  if (isDetailRead(state)) return { ...state, isDetailFocused: true }
  return withNotice(state, context, 'no details are open: d opens them')
}

/** `J`, `K`: scrolls the details while the keys are those of the list. */
export function scrollDetail(state: State, context: ScreenContext, by: 1 | -1): State {
  if (!isDetailRead(state)) return withNotice(state, context, 'no details are open: d opens them')
  const { detail } = state
  return { ...state, detail: settled({ ...detail, top: detail.top + by, at: undefined }, detailArea(state, context)) }
}

/** Shows all about the row under the cursor on the whole screen. */
export function openRow(state: State, context: ScreenContext): State {
  const key = cursorKey(state, context)
  if (key === undefined) return withNotice(state, context, 'there is no row to read')
  const { screen, stream } = state
  return openPage(state, context, screen === 'stream' ? { kind: 'event', stream, key } : { kind: 'row', screen, key })
}

export function openPage(state: State, context: ScreenContext, subject: TextSubject): State {
  const found = context.pageOf(state, subject)
  if (found === undefined) return withNotice(state, context, 'there is nothing to read')
  return { ...state, notice: undefined, page: { ...found, subject, reading: START_READING } }
}

/** The page with the latest text; of something that is gone it keeps the last one. */
export function refreshedPage(state: State, context: ScreenContext): State {
  const { page } = state
  const found = page && context.pageOf(state, page.subject)
  return page === undefined || found === undefined ? state : { ...state, page: { ...page, ...found } }
}

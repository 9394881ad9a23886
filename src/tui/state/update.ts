import { seen, withFailures } from './bell.ts'
import { endChange, withOutcome, withPreview, withPreviewFault } from './change.ts'
import { runCommand } from './commands.ts'
import type { ScreenContext } from './context.ts'
import { heightOf, rememberCursor } from './cursor.ts'
import { dialogKey, dialogPaste, streamIn, topOf } from './dialogs.ts'
import { prefixedKey } from './keys/key-prefix.ts'
import { bindingFor, elsewhereText } from './keys/keys.ts'
import { isDetailRead } from './layout.ts'
import { withCompletion } from './line-completion.ts'
import { useMouse } from './mouse.ts'
import { withOpening } from './opening.ts'
import { runOwnLine } from './own-commands.ts'
import { promptKey, promptPaste } from './prompt.ts'
import type { Action, KeyPress, State } from './state.ts'
import { focusedText, hasDetailFocus, withReading } from './text/focus.ts'
import { readingKey, refreshedPage, searchKey, searchPaste } from './text/keys.ts'
import { settled } from './text/reading.ts'
import { START_READING } from './text/text.ts'
import { clamp, listOf, only, type Transition, withList, withNotice } from './transition.ts'
import { lockExpired } from './write-lock.ts'

export { initialState } from './initial-state.ts'

/**
 * Applies an action to the state, and returns the side effects besides drawing. Pure. `context.listing` has the rows of
 * the screen that `state` shows.
 */
export function update(state: State, action: Action, context: ScreenContext): Transition {
  const [next, effects] = applyAction(withOpening(rememberCursor(state, context), context), action, context)
  return [withDetailsOfCursor(state, withNoticeOfScreen(state, withinBounds(next, context))), effects]
}

/** A notice is about the screen where it appeared: it would cover the keys of the next one. */
function withNoticeOfScreen(before: State, after: State): State {
  const isSame = after.screen === before.screen && after.pane === before.pane
  return isSame || after.notice === undefined || after.notice !== before.notice
    ? after
    : { ...after, notice: undefined }
}

/** The details of another row begin at their top, and have no keys on another screen. */
function withDetailsOfCursor(before: State, after: State): State {
  const isSame = before.stream === after.stream && before.screen === after.screen && isDetailRead(after)
  const isHere = isSame && listOf(before).cursor === listOf(after).cursor
  const detail = isHere ? after.detail : START_READING
  const isDetailFocused = isSame && hasDetailFocus(after)
  if (detail === after.detail && isDetailFocused === after.isDetailFocused) return after
  return { ...after, detail, isDetailFocused }
}

function applyAction(state: State, action: Action, context: ScreenContext): Transition {
  switch (action.kind) {
    case 'key': {
      const [next, effects] = seen(state)
      const [after, more] = pressKey(next, context, action.press)
      return [after, [...effects, ...more]]
    }
    case 'mouse':
      return useMouse(state, context, action)
    case 'failed':
      return withFailures(state, action)
    case 'paste':
      return only(paste(state, context, action.text))
    case 'opened':
      return only(state)
    case 'resize':
      return only({ ...state, size: action.size })
    case 'tick':
      return only(refreshedPage(lockExpired(withoutOldNotice(state, context), context), context))
    case 'previewed':
      return only(withPreview(state, action.request, action.preview))
    case 'preview-failed':
      return only(withPreviewFault(state, action.request, action.message))
    case 'outcome':
      return only(refreshedPage(withOutcome(state, action.outcome), context))
    case 'batch-ended':
      return endChange(state, context, action.end)
    case 'line-answered':
      return only(withOutput(state, context, action.output))
    case 'notice':
      return only(withNotice(state, context, action.text, action.style))
    case 'completed':
      return only(withCompletion(state, action.typed, action.words))
    case 'settings-saved':
      return only({ ...state, settings: action.settings })
    default:
      return action satisfies never
  }
}

/** Dialogs have the keys before prompts, prompts before the screen; repaint and suspend work everywhere. */
function pressKey(before: State, context: ScreenContext, press: KeyPress): Transition {
  const state = before.notice?.untilMs === Number.POSITIVE_INFINITY ? { ...before, notice: undefined } : before
  if (press.key === 'ctrl-l') return only(state, { kind: 'repaint' })
  if (press.key === 'ctrl-z') return only(state, { kind: 'suspend' })
  if (state.prompt?.kind === 'search') return searchKey(state, context, state.prompt, press)
  if (state.page !== undefined) return readingKey(state, context, press) ?? only(state)
  if (state.dialog !== undefined) return dialogKey(state, context, state.dialog, press)
  if (state.prompt !== undefined) return promptKey(state, context, state.prompt, press, runOwnLine)
  if (state.prefix !== undefined) return only(prefixedKey(state, context, state.prefix, press))
  const read = readingKey(state, context, press)
  if (read !== undefined) return read
  const binding = bindingFor(press, state)
  if (binding === undefined) return only(withNotice(state, context, elsewhereText(press)))
  return runCommand(state, context, binding.command, press)
}

function paste(state: State, context: ScreenContext, text: string): State {
  if (state.prompt?.kind === 'search') return searchPaste(state, context, state.prompt, text)
  if (state.page !== undefined) return state
  if (state.dialog !== undefined) return dialogPaste(state, state.dialog, text)
  return state.prompt === undefined ? state : promptPaste(state, state.prompt, text)
}

function withOutput(
  state: State,
  context: ScreenContext,
  output: Extract<Action, { kind: 'line-answered' }>['output'],
): State {
  const { dialog } = state
  if (dialog?.kind !== 'output' || dialog.output !== undefined) return state
  const first = output.lines.findIndex(line => streamIn(line, context) !== undefined)
  return { ...state, dialog: { ...dialog, output, ...(first >= 0 && { cursor: first }) } }
}

function withoutOldNotice(state: State, { nowMs }: ScreenContext): State {
  return state.notice !== undefined && nowMs >= state.notice.untilMs ? { ...state, notice: undefined } : state
}

/** Corrects positions that are outside after a resize or with fewer lines. */
function withinBounds(state: State, context: ScreenContext): State {
  const { offset } = listOf(state)
  const inside = clamp(offset, 0, Math.max(0, heightOf(state) - 1))
  const placed = inside === offset ? state : withList(state, { offset: inside })
  return withDialogInside(withTextInside(placed, context))
}

function withTextInside(state: State, context: ScreenContext): State {
  const focused = focusedText(state, context)
  if (focused === undefined) return state
  const next = settled(focused.reading, focused.area)
  return next === focused.reading ? state : withReading(state, focused.where, next)
}

function withDialogInside(state: State): State {
  const { dialog } = state
  if (dialog === undefined || !('top' in dialog)) return state
  const top = topOf(state, dialog, dialog.top)
  return top === dialog.top ? state : { ...state, dialog: { ...dialog, top } }
}

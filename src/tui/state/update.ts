import { endChange, withOutcome, withPreview, withPreviewFault } from './change.ts'
import { askQuit, openHelp, runCommand } from './commands.ts'
import type { ScreenContext } from './context.ts'
import { heightOf, rememberCursor } from './cursor.ts'
import { dialogKey, dialogPaste, topOf } from './dialogs.ts'
import { bindingFor } from './keys.ts'
import { layoutOf } from './layout.ts'
import { withOpening } from './opening.ts'
import { isScrolled, scrollTo } from './panes.ts'
import { promptKey, promptPaste } from './prompt.ts'
import type { Action, KeyPress, State } from './state.ts'
import { clamp, listOf, only, type Transition, withList, withNotice } from './transition.ts'
import { lockExpired } from './write-lock.ts'

export { initialState } from './initial-state.ts'

/**
 * Applies an action to the state, and returns the side effects besides drawing. Pure. `context.listing` has the rows of
 * the screen that `state` shows.
 */
export function update(state: State, action: Action, context: ScreenContext): Transition {
  const [next, effects] = applyAction(withOpening(rememberCursor(state, context), context), action, context)
  return [withDetailsOfCursor(state, withinBounds(next, context)), effects]
}

/** The details of another event begin at their top. */
function withDetailsOfCursor(before: State, after: State): State {
  if (after.detailTop === 0) return after
  const isSame = before.stream === after.stream && before.lists.stream.cursor === after.lists.stream.cursor
  return isSame && (after.isDetailOpen || layoutOf(after).side > 0) ? after : { ...after, detailTop: 0 }
}

function applyAction(state: State, action: Action, context: ScreenContext): Transition {
  switch (action.kind) {
    case 'key':
      return pressKey(state, context, action.press)
    case 'paste':
      return only(paste(state, action.text))
    case 'opened':
      return only(state)
    case 'resize':
      return only({ ...state, size: action.size })
    case 'tick':
      return only(lockExpired(withoutOldNotice(state, context), context))
    case 'previewed':
      return only(withPreview(state, action.request, action.preview))
    case 'preview-failed':
      return only(withPreviewFault(state, action.request, action.message))
    case 'outcome':
      return only(withOutcome(state, action.outcome))
    case 'batch-ended':
      return endChange(state, context, action.end)
    case 'line-answered':
      return only(withOutput(state, action.output))
    case 'notice':
      return only(withNotice(state, context, action.text, action.style))
    default:
      return action satisfies never
  }
}

/** Dialogs have the keys before prompts, prompts before the screen; repaint and suspend work everywhere. */
function pressKey(state: State, context: ScreenContext, press: KeyPress): Transition {
  if (press.key === 'ctrl-l') return only(state, { kind: 'repaint' })
  if (press.key === 'ctrl-z') return only(state, { kind: 'suspend' })
  if (state.dialog !== undefined) return dialogKey(state, context, state.dialog, press)
  if (state.prompt !== undefined) return promptKey(state, context, state.prompt, press, runOwn)
  const binding = bindingFor(press, state)
  return binding === undefined ? only(state) : runCommand(state, context, binding.command)
}

function runOwn(state: State, command: 'quit' | 'help'): Transition {
  return command === 'quit' ? askQuit(state) : only(openHelp(state))
}

function paste(state: State, text: string): State {
  if (state.dialog !== undefined) return dialogPaste(state, state.dialog, text)
  return state.prompt === undefined ? state : promptPaste(state, state.prompt, text)
}

function withOutput(state: State, output: Extract<Action, { kind: 'line-answered' }>['output']): State {
  const { dialog } = state
  if (dialog?.kind !== 'output' || dialog.output !== undefined) return state
  return { ...state, dialog: { ...dialog, output } }
}

function withoutOldNotice(state: State, { nowMs }: ScreenContext): State {
  return state.notice !== undefined && nowMs >= state.notice.untilMs ? { ...state, notice: undefined } : state
}

/** Corrects positions that are outside after a resize or with fewer lines. */
function withinBounds(state: State, context: ScreenContext): State {
  const { offset } = listOf(state)
  const inside = clamp(offset, 0, Math.max(0, heightOf(state) - 1))
  const placed = inside === offset ? state : withList(state, { offset: inside })
  const scrolled = isScrolled(placed) ? scrollTo(placed, context, placed.paneTop) : placed
  return withDialogInside(scrolled)
}

function withDialogInside(state: State): State {
  const { dialog } = state
  if (dialog === undefined || !('top' in dialog)) return state
  const top = topOf(state, dialog, dialog.top)
  return top === dialog.top ? state : { ...state, dialog: { ...dialog, top } }
}

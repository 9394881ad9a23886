import { ended, previewed, previewFailed, withOutcome } from './change.ts'
import { commanded, openHelp, quitAsked } from './commands.ts'
import type { World } from './context.ts'
import { heightOf, settled } from './cursor.ts'
import { dialogKey, dialogPaste, topOf } from './dialogs.ts'
import { bindingFor } from './keys.ts'
import { isScrolled, scrolledTo } from './panes.ts'
import { promptKey, promptPaste } from './prompt.ts'
import type { Action, KeyPress, State } from './state.ts'
import { clamp, listOf, noted, only, type Transition, withList } from './transition.ts'
import { expired } from './write-lock.ts'

export { initialState } from './initial-state.ts'

/**
 * Applies an action to the state, and returns the side effects besides drawing. Pure. `world.listing` has the rows of
 * the screen that `state` shows.
 */
export function update(state: State, action: Action, world: World): Transition {
  const [next, effects] = acted(settled(state, world), action, world)
  return [bounded(next, world), effects]
}

function acted(state: State, action: Action, world: World): Transition {
  switch (action.kind) {
    case 'key':
      return pressed(state, world, action.press)
    case 'paste':
      return only(pastedInto(state, action.text))
    case 'resize':
      return only({ ...state, size: action.size })
    case 'tick':
      return only(expired(withoutOldNotice(state, world), world))
    case 'previewed':
      return only(previewed(state, action.request, action.preview))
    case 'preview-failed':
      return only(previewFailed(state, action.request, action.message))
    case 'outcome':
      return only(withOutcome(state, action.outcome))
    case 'batch-ended':
      return ended(state, world, action.end)
    case 'line-answered':
      return only(answered(state, action.output))
    case 'notice':
      return only(noted(state, world, action.text, action.style))
    default:
      return action satisfies never
  }
}

/** Dialogs have the keys before prompts, prompts before the screen; repaint and suspend work everywhere. */
function pressed(state: State, world: World, press: KeyPress): Transition {
  if (press.key === 'ctrl-l') return only(state, { kind: 'repaint' })
  if (press.key === 'ctrl-z') return only(state, { kind: 'suspend' })
  if (state.dialog !== undefined) return dialogKey(state, world, state.dialog, press)
  if (state.prompt !== undefined) return promptKey(state, world, state.prompt, press, runOwn)
  const binding = bindingFor(press, state)
  return binding === undefined ? only(state) : commanded(state, world, binding.command)
}

function runOwn(state: State, command: 'quit' | 'help'): Transition {
  return command === 'quit' ? quitAsked(state) : only(openHelp(state))
}

function pastedInto(state: State, text: string): State {
  if (state.dialog !== undefined) return dialogPaste(state, state.dialog, text)
  return state.prompt === undefined ? state : promptPaste(state, state.prompt, text)
}

function answered(state: State, output: Extract<Action, { kind: 'line-answered' }>['output']): State {
  const { dialog } = state
  if (dialog?.kind !== 'output' || dialog.output !== undefined) return state
  return { ...state, dialog: { ...dialog, output } }
}

function withoutOldNotice(state: State, { nowMs }: World): State {
  return state.notice !== undefined && nowMs >= state.notice.untilMs ? { ...state, notice: undefined } : state
}

/** Corrects positions that are outside after a resize or with fewer lines. */
function bounded(state: State, world: World): State {
  const { offset } = listOf(state)
  const inside = clamp(offset, 0, Math.max(0, heightOf(state) - 1))
  const placed = inside === offset ? state : withList(state, { offset: inside })
  const scrolled = isScrolled(placed) ? scrolledTo(placed, world, placed.paneTop) : placed
  return withDialogInside(scrolled)
}

function withDialogInside(state: State): State {
  const { dialog } = state
  if (dialog === undefined || !('top' in dialog)) return state
  const top = topOf(state, dialog, dialog.top)
  return top === dialog.top ? state : { ...state, dialog: { ...dialog, top } }
}

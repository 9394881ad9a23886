import { InvalidValue } from '../../stream/errors.ts'
import { checkText } from '../../stream/text.ts'
import type { Preview } from '../ports.ts'
import { fieldOf, fociOf, focusMoved, focusOn } from './change-focus.ts'
import type { World } from './context.ts'
import { copied } from './copy.ts'
import type { ChangeDialog, Field, KeyPress, State } from './state.ts'
import { edited, pasted } from './text-field.ts'
import { noted, only, type Step } from './transition.ts'
import { refusalOf } from './update-change.ts'
import { withoutMarks } from './update-list.ts'

/** A key while it is asked whether a change shall be. Only `enter` on `yes` begins it. */
export function changeKey(state: State, world: World, dialog: ChangeDialog, press: KeyPress): Step {
  const by = STEPS.get(press.key)
  if (press.key === 'escape' || press.key === 'ctrl-c') return closed(state, dialog)
  if (by !== undefined) return only({ ...state, dialog: focusMoved(dialog, by) })
  const focus = fieldOf(dialog)
  return focus === undefined ? buttonKey(state, world, dialog, press) : fieldKey(state, dialog, focus, press)
}

export function changePaste(state: State, dialog: ChangeDialog, text: string): State {
  const focus = fieldOf(dialog)
  return focus === undefined ? state : withField(state, dialog, focus, pasted(dialog[focus], text))
}

const STEPS: ReadonlyMap<string, 1 | -1> = new Map([
  ['tab', 1],
  ['down', 1],
  ['shift-tab', -1],
  ['up', -1],
])

function fieldKey(state: State, dialog: ChangeDialog, focus: 'reason' | 'typed', press: KeyPress): Step {
  if (press.key === 'enter') return only({ ...state, dialog: focusOn(dialog) })
  const field = edited(dialog[focus], press)
  return only(field === undefined ? state : withField(state, dialog, focus, field))
}

function withField(state: State, dialog: ChangeDialog, focus: 'reason' | 'typed', field: Field): State {
  return { ...state, dialog: { ...dialog, [focus]: field } }
}

function buttonKey(state: State, world: World, dialog: ChangeDialog, { key }: KeyPress): Step {
  switch (key) {
    case 'enter':
      return dialog.focus === 'yes' && dialog.preview !== undefined
        ? confirmed(state, world, dialog, dialog.preview)
        : closed(state, dialog)
    case 'q':
    case 'n':
      return closed(state, dialog)
    case 'y':
      return only(fociOf(dialog).includes('yes') ? { ...state, dialog: { ...dialog, focus: 'yes' } } : state)
    case 'left':
      return only({ ...state, dialog: focusMoved(dialog, -1) })
    case 'right':
      return only({ ...state, dialog: focusMoved(dialog, 1) })
    case 'C':
      return dialog.preview === undefined
        ? only(state)
        : copied(state, world, dialog.preview.command(dialog.reason.text.trim()))
    default:
      return only(state)
  }
}

/** Nothing happened. */
function closed(state: State, { preview, fault }: ChangeDialog): Step {
  const next = { ...state, dialog: undefined }
  return preview === undefined && fault === undefined ? only(next, { kind: 'forget-preview' }) : only(next)
}

function confirmed(state: State, world: World, dialog: ChangeDialog, preview: Preview): Step {
  const why = (text: string, focus = dialog.focus) =>
    only(noted({ ...state, dialog: { ...dialog, focus } }, world, text, 'bad'))
  const { confirm, count } = preview
  if (count <= 0) return only(state)
  const refusal = refusalOf(state, world)
  if (refusal !== undefined) return why(`nothing was changed: ${refusal}`)
  if (confirm.kind === 'type' && dialog.typed.text !== confirm.text)
    return why(`nothing was changed: type ${confirm.what} exactly`, 'typed')
  const reason = preview.takesReason ? dialog.reason.text.trim() : ''
  const fault = reasonFault(reason)
  if (fault !== undefined) return why(`nothing was changed: ${fault}`, 'reason')
  return begun(state, preview, reason)
}

function reasonFault(reason: string): string | undefined {
  try {
    checkText('reason', reason)
    return undefined
  } catch (error) {
    if (error instanceof InvalidValue) return error.message
    throw error
  }
}

/** What was marked for it is done with. */
function begun(state: State, preview: Preview, reason: string): Step {
  const next: State = {
    ...withoutMarks(state),
    dialog: { kind: 'outcomes', top: 0 },
    batch: { preview, outcomes: [], isStopping: false, end: undefined },
  }
  return only(next, { kind: 'carry-out', preview, reason })
}

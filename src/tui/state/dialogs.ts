import { changeKey, changePaste, isRunning } from './change.ts'
import type { World } from './context.ts'
import { helpLayout } from './help.ts'
import { dialogHeight } from './layout.ts'
import type { Dialog, KeyPress, State } from './state.ts'
import { edited, pasted } from './text-field.ts'
import { clamp, noted, only, type Transition } from './transition.ts'
import { unlocked } from './write-lock.ts'

/** A key in a dialog: the screen behind it does not see the key. */
export function dialogKey(state: State, world: World, dialog: Dialog, press: KeyPress): Transition {
  switch (dialog.kind) {
    case 'change':
      return changeKey(state, world, dialog, press)
    case 'unlock':
      return unlockKey(state, world, dialog, press)
    case 'quit':
      return quitKey(state, press)
    case 'help':
    case 'outcomes':
    case 'output':
      return textKey(state, world, dialog, press)
    default:
      return dialog satisfies never
  }
}

/** A paste goes into the focused field, if any. */
export function dialogPaste(state: State, dialog: Dialog, text: string): State {
  if (dialog.kind === 'change') return changePaste(state, dialog, text)
  if (dialog.kind !== 'unlock') return state
  return { ...state, dialog: { ...dialog, field: pasted(dialog.field, text), isWrong: false } }
}

function closed(state: State): State {
  return { ...state, dialog: undefined }
}

function isLeaving({ key }: KeyPress): boolean {
  return key === 'escape' || key === 'ctrl-c'
}

type Of<Kind extends Dialog['kind']> = Extract<Dialog, { kind: Kind }>

function unlockKey(state: State, world: World, dialog: Of<'unlock'>, press: KeyPress): Transition {
  if (isLeaving(press)) return only(closed(state))
  if (press.key === 'enter') {
    const isRight = dialog.field.text === dialog.name
    return only(isRight ? unlocked(closed(state), world) : { ...state, dialog: { ...dialog, isWrong: true } })
  }
  const field = edited(dialog.field, press)
  return only(field === undefined ? state : { ...state, dialog: { ...dialog, field, isWrong: false } })
}

/** `y` stops the change and quits when changes in flight have ended; every other answer stays. */
function quitKey(state: State, press: KeyPress): Transition {
  if (press.key === 'y') return stopped(state, true)
  return only(isLeaving(press) || STAYING.has(press.key) ? closed(state) : state)
}

const STAYING: ReadonlySet<string> = new Set(['n', 'q', 'enter'])

function stopped(state: State, isLast: boolean): Transition {
  const { batch } = state
  if (!isRunning(batch)) return isLast ? only(closed(state), { kind: 'quit' }) : only(state)
  const next: State = { ...state, batch: { ...batch, isStopping: true, isLast }, dialog: { kind: 'outcomes', top: 0 } }
  return only(next, { kind: 'stop-batch' })
}

function textKey(state: State, world: World, dialog: Of<'help' | 'outcomes' | 'output'>, press: KeyPress): Transition {
  if (isLeaving(press) || CLOSING[dialog.kind].has(press.key)) return left(state, world, dialog)
  if (dialog.kind === 'outcomes' && press.key === 's' && isRunning(state.batch) && !state.batch.isStopping) {
    const [next, effects] = stopped(state, false)
    return [noted(next, world, 'changes not yet started are skipped'), effects]
  }
  const top = scrolled(state, dialog, press)
  return only(top === dialog.top ? state : { ...state, dialog: { ...dialog, top } })
}

const CLOSING = {
  help: new Set(['q', 'enter', '?', 'f1']),
  outcomes: new Set(['q', 'enter', 'o']),
  output: new Set(['q', 'enter']),
} as const

/** Stops a running line; one that may have changed something is waited for. */
function left(state: State, world: World, dialog: Dialog): Transition {
  if (dialog.kind !== 'output' || dialog.output !== undefined) return only(closed(state))
  if (!dialog.mayWrite || dialog.isStopping) return only(closed(state), { kind: 'stop-line' })
  const next: State = { ...state, dialog: { ...dialog, isStopping: true } }
  return only(noted(next, world, 'stopping after the changes in flight', 'warn'), { kind: 'stop-line' })
}

type Scrolling = Extract<Dialog, { readonly top: number }>

/** The first visible line of a dialog after a key. */
function scrolled(state: State, dialog: Scrolling, { key }: KeyPress): number {
  const lines = LINES.get(key) ?? (PAGES.get(key) ?? 0) * pageOf(state, dialog)
  return topOf(state, dialog, dialog.top + lines)
}

/** The valid first line nearest to the wanted one. */
export function topOf(state: State, dialog: Scrolling, wanted: number): number {
  return clamp(wanted, 0, Math.max(0, linesOf(state, dialog) - pageOf(state, dialog)))
}

const LINES: ReadonlyMap<string, number> = new Map([
  ['j', 1],
  ['down', 1],
  ['k', -1],
  ['up', -1],
  ['g', -Infinity],
  ['home', -Infinity],
  ['G', Infinity],
  ['end', Infinity],
])

const PAGES: ReadonlyMap<string, number> = new Map([
  ['pagedown', 1],
  ['ctrl-f', 1],
  ['space', 1],
  ['pageup', -1],
  ['ctrl-b', -1],
])

/**
 * Rules, summary and keys take rows of a dialog. Too many are assumed rather than too few, so that every line can be
 * reached.
 */
const FRAME_ROWS = 4
/** The help has a rule above and one below. */
const HELP_FRAME_ROWS = 2

function pageOf({ size }: State, dialog: Scrolling): number {
  return Math.max(1, dialogHeight(size, dialog) - (dialog.kind === 'help' ? HELP_FRAME_ROWS : FRAME_ROWS))
}

function linesOf(state: State, dialog: Scrolling): number {
  switch (dialog.kind) {
    case 'help':
      return helpLayout(state.size.columns).total
    case 'outcomes':
      return (state.batch?.outcomes.length ?? 0) + endLines(state)
    case 'output':
      return dialog.output?.lines.length ?? 0
    default:
      return dialog satisfies never
  }
}

function endLines({ batch }: State): number {
  if (batch?.end === undefined) return 0
  return 'fault' in batch.end ? 1 : batch.end.lines.length
}

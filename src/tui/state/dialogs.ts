import { changeKey, changePaste, isRunning, listedTargets } from './change.ts'
import { columnsKey } from './columns-dialog.ts'
import type { ScreenContext } from './context.ts'
import { helpLayout } from './keys/help.ts'
import { dialogHeight } from './layout.ts'
import { openNamed } from './panes.ts'
import type { Dialog, KeyPress, State } from './state.ts'
import { openPage, readingKey } from './text/keys.ts'
import { editField, pasteText } from './text-field.ts'
import { clamp, only, type Transition, withNotice } from './transition.ts'
import { unlock } from './write-lock.ts'

/** A key in a dialog: the screen behind it does not see the key. */
export function dialogKey(state: State, context: ScreenContext, dialog: Dialog, press: KeyPress): Transition {
  switch (dialog.kind) {
    case 'change':
      return changeKey(state, context, dialog, press)
    case 'unlock':
      return unlockKey(state, context, dialog, press)
    case 'quit':
      return quitKey(state, press)
    case 'columns':
      return columnsKey(state, context, dialog, press)
    case 'help':
    case 'outcomes':
    case 'output':
      return textKey(state, context, dialog, press)
    default:
      return dialog satisfies never
  }
}

/** A paste goes into the focused field, if any. */
export function dialogPaste(state: State, dialog: Dialog, text: string): State {
  if (dialog.kind === 'change') return changePaste(state, dialog, text)
  if (dialog.kind !== 'unlock') return state
  return { ...state, dialog: { ...dialog, field: pasteText(dialog.field, text), isWrong: false } }
}

function closeDialog(state: State): State {
  return { ...state, dialog: undefined }
}

function isCloseKey({ key }: KeyPress): boolean {
  return key === 'escape' || key === 'ctrl-c'
}

type Of<Kind extends Dialog['kind']> = Extract<Dialog, { kind: Kind }>

function unlockKey(state: State, context: ScreenContext, dialog: Of<'unlock'>, press: KeyPress): Transition {
  if (isCloseKey(press)) return only(closeDialog(state))
  if (press.key === 'enter') {
    const isRight = dialog.field.text === dialog.name
    return only(isRight ? unlock(closeDialog(state), context) : { ...state, dialog: { ...dialog, isWrong: true } })
  }
  const field = editField(dialog.field, press)
  return only(field === undefined ? state : { ...state, dialog: { ...dialog, field, isWrong: false } })
}

/** `y` stops the change and quits when changes in flight have ended; every other answer stays. */
function quitKey(state: State, press: KeyPress): Transition {
  if (press.key === 'y') return stopChange(state, true)
  return only(isCloseKey(press) || STAYING.has(press.key) ? closeDialog(state) : state)
}

const STAYING: ReadonlySet<string> = new Set(['n', 'q', 'enter'])

function stopChange(state: State, isLast: boolean): Transition {
  const { batch } = state
  if (!isRunning(batch)) return isLast ? only(closeDialog(state), { kind: 'quit' }) : only(state)
  const next: State = { ...state, batch: { ...batch, isStopping: true, isLast }, dialog: { kind: 'outcomes', top: 0 } }
  return only(next, { kind: 'stop-batch' })
}

function textKey(
  state: State,
  context: ScreenContext,
  dialog: Of<'help' | 'outcomes' | 'output'>,
  press: KeyPress,
): Transition {
  const opened = press.key === 'enter' ? openedStream(context, dialog) : undefined
  if (opened !== undefined) return only(openNamed(closeDialog(state), context, opened))
  if (isCloseKey(press) || CLOSING[dialog.kind].has(press.key)) return leaveText(state, context, dialog)
  if (dialog.kind === 'outcomes' && press.key === 's' && isRunning(state.batch) && !state.batch.isStopping) {
    const [next, effects] = stopChange(state, false)
    return [withNotice(next, context, 'changes not yet started are skipped'), effects]
  }
  if (dialog.kind !== 'help' && (press.key === 'o' || press.key === '/')) {
    const open = openPage(state, context, { kind: dialog.kind === 'outcomes' ? 'outcomes' : 'output' })
    return press.key === '/' && open.page !== undefined ? (readingKey(open, context, press) ?? only(open)) : only(open)
  }
  if (dialog.kind === 'output' && dialog.cursor !== undefined)
    return only({ ...state, dialog: withCursorMoved(state, { ...dialog, cursor: dialog.cursor }, press) })
  if (dialog.kind === 'outcomes' && !isScrollKey(press)) {
    return only(withNotice(state, context, 'the outcomes have the keys: esc closes them'))
  }
  const top = topAfterKey(state, dialog, press)
  return only(top === dialog.top ? state : { ...state, dialog: { ...dialog, top } })
}

/** The stream that the line under the cursor names. */
function openedStream(context: ScreenContext, dialog: Dialog): string | undefined {
  if (dialog.kind !== 'output' || dialog.cursor === undefined) return undefined
  return streamIn(dialog.output?.lines[dialog.cursor] ?? '', context)
}

/** The first word of a line that is the name of a known stream. */
export function streamIn(line: string, { data }: Pick<ScreenContext, 'data'>): string | undefined {
  return line.split(/\s+/).find(word => word !== '' && data.streams.get(word) !== undefined)
}

/** The cursor of an output moves line by line, and the window with it. */
function withCursorMoved(state: State, dialog: Of<'output'> & { readonly cursor: number }, { key }: KeyPress): Dialog {
  const page = pageOf(state, dialog)
  const by = LINES.get(key) ?? (PAGES.get(key) ?? 0) * page
  const cursor = clamp(dialog.cursor + by, 0, Math.max(0, linesOf(state, dialog) - 1))
  return { ...dialog, cursor, top: topOf(state, dialog, clamp(dialog.top, cursor - page + 1, cursor)) }
}

const CLOSING = {
  help: new Set(['q', 'enter', '?', 'f1']),
  outcomes: new Set(['q', 'enter', 'O']),
  output: new Set(['q', 'enter']),
} as const

/** Stops a running line; one that may have changed something is waited for. */
function leaveText(state: State, context: ScreenContext, dialog: Dialog): Transition {
  if (dialog.kind !== 'output' || dialog.output !== undefined) return only(closeDialog(state))
  if (!dialog.mayWrite || dialog.isStopping) return only(closeDialog(state), { kind: 'stop-line' })
  const next: State = { ...state, dialog: { ...dialog, isStopping: true } }
  return only(withNotice(next, context, 'stopping after the changes in flight', 'warn'), { kind: 'stop-line' })
}

type Scrolling = Extract<Dialog, { readonly top: number }>

/** The first visible line of a dialog after a key. */
function topAfterKey(state: State, dialog: Scrolling, { key }: KeyPress): number {
  const lines = LINES.get(key) ?? (PAGES.get(key) ?? 0) * pageOf(state, dialog)
  return topOf(state, dialog, dialog.top + lines)
}

/** The valid first line nearest to the wanted one. */
export function topOf(state: State, dialog: Scrolling, wanted: number): number {
  return clamp(wanted, 0, Math.max(0, linesOf(state, dialog) - pageOf(state, dialog)))
}

function isScrollKey({ key }: KeyPress): boolean {
  return LINES.has(key) || PAGES.has(key)
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

function pageOf(state: State, dialog: Scrolling): number {
  const { size } = state
  if (dialog.kind === 'change') return listedTargets(state, dialog)
  return Math.max(1, dialogHeight(size, dialog) - (dialog.kind === 'help' ? HELP_FRAME_ROWS : FRAME_ROWS))
}

function linesOf(state: State, dialog: Scrolling): number {
  switch (dialog.kind) {
    case 'change':
      return dialog.preview?.affected.length ?? 0
    case 'help':
      return helpLayout(state.size.columns, state.screen).total
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

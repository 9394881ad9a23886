import { chooseColumns } from './columns-dialog.ts'
import type { ScreenContext } from './context.ts'
import type { KeyPress, OutputDialog, Prompt, State, TextField } from './state.ts'
import { EMPTY_FIELD, editField, fieldWith, pasteText } from './text-field.ts'
import { listOf, only, type Transition, withList } from './transition.ts'
import { mayWrite } from './write-lock.ts'

/** Prompts of the screen; a text has its own. */
export type ListPrompt = Exclude<Prompt, { kind: 'search' }>

/** Remembered `:` lines. */
const HISTORY_LENGTH = 100

export function filterPrompt(state: State): State {
  const { filter } = listOf(state)
  return { ...state, prompt: { kind: 'filter', field: fieldWith(filter), before: filter } }
}

export function linePrompt(state: State): State {
  return { ...state, prompt: { kind: 'line', field: EMPTY_FIELD, past: undefined } }
}

/** A key in the prompt. `run` carries out the dashboard's own `:` commands. */
export function promptKey(
  state: State,
  context: ScreenContext,
  prompt: ListPrompt,
  press: KeyPress,
  run: RunOwnCommand,
): Transition {
  const { key } = press
  if (key === 'escape' || key === 'ctrl-c') return only(leavePrompt(state, prompt))
  if (key === 'enter')
    return prompt.kind === 'filter' ? only(closePrompt(state)) : enterLine(state, context, prompt, run)
  if (prompt.kind === 'line' && (key === 'up' || key === 'down')) return only(recallLine(state, prompt, key))
  const field = editField(prompt.field, press)
  return only(field === undefined ? state : withField(state, prompt, field))
}

export function promptPaste(state: State, prompt: ListPrompt, text: string): State {
  return withField(state, prompt, pasteText(prompt.field, text))
}

export type RunOwnCommand = (state: State, command: 'quit' | 'help') => Transition

const OWN: ReadonlyMap<string, 'quit' | 'help'> = new Map([
  ['q', 'quit'],
  ['quit', 'quit'],
  ['help', 'help'],
  ['?', 'help'],
])

/** `columns a,b,c`, or alone. */
const COLUMNS_LINE = /^columns(?:\s+(.*))?$/

function withField(state: State, prompt: ListPrompt, field: TextField): State {
  const next = { ...state, prompt: { ...prompt, field } }
  return prompt.kind === 'filter' ? withFilter(next, field.text) : next
}

function leavePrompt(state: State, prompt: ListPrompt): State {
  return closePrompt(prompt.kind === 'filter' ? withFilter(state, prompt.before) : state)
}

function withFilter(state: State, filter: string): State {
  const list = listOf(state)
  return filter === list.filter ? state : withList(state, { filter, moves: list.moves + 1 })
}

function closePrompt(state: State): State {
  return { ...state, prompt: undefined }
}

function enterLine(state: State, context: ScreenContext, prompt: ListPrompt, run: RunOwnCommand): Transition {
  const line = prompt.field.text.trim()
  if (line === '') return only(closePrompt(state))
  const next = closePrompt({ ...state, history: withLine(state.history, line) })
  const columns = COLUMNS_LINE.exec(line)
  if (columns !== null) return chooseColumns(next, context, columns[1] ?? '')
  const own = OWN.get(line)
  if (own !== undefined) return run(next, own)
  const isUnlocked = mayWrite(state, context)
  const dialog: OutputDialog = {
    kind: 'output',
    line,
    output: undefined,
    top: 0,
    ...(isUnlocked && { mayWrite: true }),
  }
  return only({ ...next, dialog }, { kind: 'run-line', line, mayWrite: isUnlocked })
}

function withLine(history: readonly string[], line: string): readonly string[] {
  return history.at(-1) === line ? history : [...history, line].slice(-HISTORY_LENGTH)
}

function recallLine(state: State, prompt: Extract<Prompt, { kind: 'line' }>, key: 'up' | 'down'): State {
  const { history } = state
  const at = (prompt.past ?? history.length) + (key === 'up' ? -1 : 1)
  if (at < 0 || (at >= history.length && prompt.past === undefined)) return state
  const line = history[at]
  return { ...state, prompt: { ...prompt, field: fieldWith(line ?? ''), past: line === undefined ? undefined : at } }
}

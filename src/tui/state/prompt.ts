import type { ScreenContext } from './context.ts'
import { goToFirstMatch } from './cursor.ts'
import { completeLine } from './line-completion.ts'
import { filterOf } from './lists/filters.ts'
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
    return prompt.kind === 'filter' ? only(enterFilter(state, context, prompt)) : enterLine(state, context, prompt, run)
  if (prompt.kind === 'line' && (key === 'up' || key === 'down')) return only(recallLine(state, prompt, key))
  if (prompt.kind === 'line' && (key === 'tab' || key === 'shift-tab'))
    return completeLine(state, prompt, key === 'tab' ? 1 : -1)
  const field = editField(prompt.field, press)
  return only(field === undefined ? state : withField(state, prompt, field))
}

export function promptPaste(state: State, prompt: ListPrompt, text: string): State {
  return withField(state, prompt, pasteText(prompt.field, text))
}

/** A wrong filter stays open, with what is wrong beside it. The cursor goes to the first match. */
function enterFilter(state: State, context: ScreenContext, { before }: Extract<Prompt, { kind: 'filter' }>): State {
  const { isEmpty, fault } = filterOf(state)
  if (fault !== undefined) return state
  const next = closePrompt(state)
  return isEmpty || before === listOf(state).filter ? next : goToFirstMatch(next, context)
}

/** A line of the dashboard itself; `undefined` for a command line of the program. */
export type RunOwnCommand = (state: State, context: ScreenContext, line: string) => Transition | undefined

function withField(state: State, prompt: ListPrompt, field: TextField): State {
  if (prompt.kind === 'line') return { ...state, prompt: { ...prompt, field, completion: undefined } }
  return withFilter({ ...state, prompt: { ...prompt, field } }, field.text)
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
  const own = run(next, context, line)
  if (own !== undefined) return own
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
  return {
    ...state,
    prompt: {
      ...prompt,
      completion: undefined,
      field: fieldWith(line ?? ''),
      past: line === undefined ? undefined : at,
    },
  }
}

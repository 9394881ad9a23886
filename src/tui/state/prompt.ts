import type { ScreenContext } from './context.ts'
import { cursorKey, moveToKey } from './cursor.ts'
import type { KeyPress, OutputDialog, Prompt, State, TextField } from './state.ts'
import { EMPTY_FIELD, editField, fieldWith, pasteText } from './text-field.ts'
import { listOf, only, type Transition, withList } from './transition.ts'
import { mayWrite } from './write-lock.ts'

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
  prompt: Prompt,
  press: KeyPress,
  run: RunOwnCommand,
): Transition {
  const { key } = press
  if (key === 'escape' || key === 'ctrl-c') return only(leavePrompt(state, prompt))
  if (key === 'enter')
    return prompt.kind === 'filter'
      ? only(onFirstMatch(closePrompt(state), context))
      : enterLine(state, context, prompt, run)
  if (prompt.kind === 'line' && (key === 'up' || key === 'down')) return only(recallLine(state, prompt, key))
  const field = editField(prompt.field, press)
  return only(field === undefined ? state : withField(state, prompt, field))
}

export function promptPaste(state: State, prompt: Prompt, text: string): State {
  return withField(state, prompt, pasteText(prompt.field, text))
}

/** In the tree, rows above a match are shown too: the cursor goes to the first match itself. */
function onFirstMatch(state: State, context: ScreenContext): State {
  const key = cursorKey(state, context)
  const { listing } = context
  if (state.screen !== 'stream' || key === undefined || !listing.isFaint(key)) return state
  return moveToKey(
    state,
    context,
    listing.keys.find(each => !listing.isFaint(each)),
  )
}

export type RunOwnCommand = (state: State, command: 'quit' | 'help') => Transition

const OWN: ReadonlyMap<string, 'quit' | 'help'> = new Map([
  ['q', 'quit'],
  ['quit', 'quit'],
  ['help', 'help'],
  ['?', 'help'],
])

function withField(state: State, prompt: Prompt, field: TextField): State {
  const next = { ...state, prompt: { ...prompt, field } }
  return prompt.kind === 'filter' ? withFilter(next, field.text) : next
}

function leavePrompt(state: State, prompt: Prompt): State {
  return closePrompt(prompt.kind === 'filter' ? withFilter(state, prompt.before) : state)
}

function withFilter(state: State, filter: string): State {
  const list = listOf(state)
  return filter === list.filter ? state : withList(state, { filter, moves: list.moves + 1 })
}

function closePrompt(state: State): State {
  return { ...state, prompt: undefined }
}

function enterLine(state: State, context: ScreenContext, prompt: Prompt, run: RunOwnCommand): Transition {
  const line = prompt.field.text.trim()
  if (line === '') return only(closePrompt(state))
  const next = closePrompt({ ...state, history: withLine(state.history, line) })
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

import type { World } from './context.ts'
import type { KeyPress, OutputDialog, Prompt, State, TextField } from './state.ts'
import { EMPTY_FIELD, edited, fieldWith, pasted } from './text-field.ts'
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
export function promptKey(state: State, world: World, prompt: Prompt, press: KeyPress, run: RunOwn): Transition {
  const { key } = press
  if (key === 'escape' || key === 'ctrl-c') return only(left(state, prompt))
  if (key === 'enter') return prompt.kind === 'filter' ? only(closed(state)) : entered(state, world, prompt, run)
  if (prompt.kind === 'line' && (key === 'up' || key === 'down')) return only(recalled(state, prompt, key))
  const field = edited(prompt.field, press)
  return only(field === undefined ? state : typed(state, prompt, field))
}

export function promptPaste(state: State, prompt: Prompt, text: string): State {
  return typed(state, prompt, pasted(prompt.field, text))
}

export type RunOwn = (state: State, command: 'quit' | 'help') => Transition

const OWN: ReadonlyMap<string, 'quit' | 'help'> = new Map([
  ['q', 'quit'],
  ['quit', 'quit'],
  ['help', 'help'],
  ['?', 'help'],
])

function typed(state: State, prompt: Prompt, field: TextField): State {
  const next = { ...state, prompt: { ...prompt, field } }
  return prompt.kind === 'filter' ? filtered(next, field.text) : next
}

function left(state: State, prompt: Prompt): State {
  return closed(prompt.kind === 'filter' ? filtered(state, prompt.before) : state)
}

function filtered(state: State, filter: string): State {
  const list = listOf(state)
  return filter === list.filter ? state : withList(state, { filter, moves: list.moves + 1 })
}

function closed(state: State): State {
  return { ...state, prompt: undefined }
}

function entered(state: State, world: World, prompt: Prompt, run: RunOwn): Transition {
  const line = prompt.field.text.trim()
  if (line === '') return only(closed(state))
  const next = closed({ ...state, history: remembered(state.history, line) })
  const own = OWN.get(line)
  if (own !== undefined) return run(next, own)
  const isUnlocked = mayWrite(state, world)
  const dialog: OutputDialog = {
    kind: 'output',
    line,
    output: undefined,
    top: 0,
    ...(isUnlocked && { mayWrite: true }),
  }
  return only({ ...next, dialog }, { kind: 'run-line', line, mayWrite: isUnlocked })
}

function remembered(history: readonly string[], line: string): readonly string[] {
  return history.at(-1) === line ? history : [...history, line].slice(-HISTORY_LENGTH)
}

function recalled(state: State, prompt: Extract<Prompt, { kind: 'line' }>, key: 'up' | 'down'): State {
  const { history } = state
  const at = (prompt.past ?? history.length) + (key === 'up' ? -1 : 1)
  if (at < 0 || (at >= history.length && prompt.past === undefined)) return state
  const line = history[at]
  return { ...state, prompt: { ...prompt, field: fieldWith(line ?? ''), past: line === undefined ? undefined : at } }
}

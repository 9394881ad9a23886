import { type Prompt, SCREENS, type State } from './state.ts'
import { fieldWith } from './text-field.ts'
import { only, type Transition } from './transition.ts'

type LinePrompt = Extract<Prompt, { kind: 'line' }>

/** Commands of the dashboard itself, which are offered beside those of the program. */
const OWN_WORDS: readonly string[] = [...SCREENS, 'open', 'view', 'columns', 'ctx', 'quit', 'help']

/** `tab` in a `:` line: asks for the words that can follow; with several found, goes through them. */
export function completeLine(state: State, prompt: LinePrompt, by: 1 | -1): Transition {
  const { completion } = prompt
  if (completion !== undefined && completion.words.length > 1) return only(withNext(state, prompt, completion, by))
  const typed = prompt.field.text.slice(0, prompt.field.at)
  const [word = '', ...rest] = typed.trimStart().split(/\s+/)
  if (word === 'view' && rest.length > 0) {
    const names = Object.keys(state.settings.views).filter(name => name.startsWith(rest.at(-1) ?? ''))
    return only(withCompletion(state, typed, names.sort()))
  }
  // their arguments are those of commands of the program
  const line = typed.replace(/^\s*(ctx|open)\s/, (_, own) => (own === 'ctx' ? 'context use ' : 'show '))
  return only(state, { kind: 'complete', typed, line })
}

/** The answer, unless the line has changed since. */
export function withCompletion(state: State, typed: string, found: readonly string[]): State {
  const { prompt } = state
  if (prompt?.kind !== 'line' || prompt.field.text.slice(0, prompt.field.at) !== typed) return state
  const current = wordAtEnd(typed)
  const own = /^\s*\S*$/.test(typed) ? OWN_WORDS.filter(word => word.startsWith(current)) : []
  const words = [...new Set([...own, ...found])]
  const start = typed.length - current.length
  const [only] = words
  if (words.length === 1 && only !== undefined) {
    const gap = /[=/]$/.test(only) ? '' : ' '
    return withText(state, { ...prompt, completion: undefined }, typed.slice(0, start) + only + gap)
  }
  const text = typed.slice(0, start) + commonStart(words, current)
  return withText(state, { ...prompt, completion: { start, words, at: undefined } }, text)
}

/** The word that ends the text, with its backslashes. */
function wordAtEnd(text: string): string {
  return /(?:\\.|[^\s\\])*$/.exec(text)?.[0] ?? ''
}

/** Never shorter than what is typed. */
function commonStart(words: readonly string[], typed: string): string {
  let start = words[0] ?? typed
  for (const word of words) while (!word.startsWith(start)) start = start.slice(0, -1)
  return start.length > typed.length ? start : typed
}

function withNext(
  state: State,
  prompt: LinePrompt,
  completion: NonNullable<LinePrompt['completion']>,
  by: 1 | -1,
): State {
  const { start, words, at } = completion
  const next = at === undefined ? (by === 1 ? 0 : words.length - 1) : (at + by + words.length) % words.length
  const text = prompt.field.text.slice(0, start) + (words[next] ?? '')
  return withText(state, { ...prompt, completion: { ...completion, at: next } }, text)
}

/** What is behind the cursor stays behind it. */
function withText(state: State, prompt: LinePrompt, before: string): State {
  const { text, at } = prompt.field
  const field = { text: before + text.slice(at), at: fieldWith(before).at }
  return { ...state, prompt: { ...prompt, field } }
}

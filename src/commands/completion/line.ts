import type { Shell } from './shells.ts'

/** A command line up to the cursor, as the shell would read it. */
export interface TypedLine {
  /** The words behind the program's name, without the one at the cursor. */
  readonly before: readonly string[]
  /** The word at the cursor, as far as it is typed. */
  readonly current: string
  /** The quote that is open at the cursor. */
  readonly quote: '' | "'" | '"'
  /** So many characters of `current` bash leaves as they are: it replaces only what follows its last break. */
  readonly kept: number
}

/**
 * Splits a line as the shell does; variables and `$(…)` stay as they are.
 * @param breaks characters at which bash breaks words for completion, `COMP_WORDBREAKS`
 */
export function typedLine(line: string, shell: Shell, breaks = ''): TypedLine {
  const state: State = { words: [], text: '', isOpen: false, quote: '', kept: 0, beforeQuote: 0 }
  for (let at = 0; at < line.length; at++) at += step(state, line, at, shell, breaks)
  const program = Math.max(0, state.words.findIndex(isProgram))
  return {
    before: state.words.slice(program + 1),
    current: state.text,
    quote: state.quote,
    kept: state.quote === '' ? state.kept : state.beforeQuote,
  }
}

/** `sudo leasectl`, `npx leasectl` and a path are leasectl too; an alias stands first. */
function isProgram(word: string): boolean {
  return /(^|\/)leasectl(\.js)?$/.test(word)
}

interface State {
  readonly words: string[]
  text: string
  /** A word has begun, be it only by an empty pair of quotes. */
  isOpen: boolean
  quote: TypedLine['quote']
  kept: number
  beforeQuote: number
}

/** Takes one character; returns how many more belong to it. */
function step(state: State, line: string, at: number, shell: Shell, breaks: string): number {
  const character = line.charAt(at)
  if (character === '\\' && at + 1 < line.length && escapes(state.quote, line.charAt(at + 1), shell)) {
    add(state, line.charAt(at + 1))
    return 1
  }
  if (state.quote !== '') {
    if (character === state.quote) state.quote = ''
    else add(state, character)
  } else if (character === "'" || character === '"') {
    state.quote = character
    state.beforeQuote = state.text.length
    state.isOpen = true
  } else if (/\s/.test(character)) {
    endWord(state)
  } else {
    add(state, character)
    if (breaks.includes(character)) state.kept = state.text.length
  }
  return 0
}

/** Whether a backslash takes the meaning from the next character. */
function escapes(quote: TypedLine['quote'], next: string, shell: Shell): boolean {
  if (quote === '') return true
  if (quote === '"') return /["\\$`]/.test(next)
  return shell === 'fish' && /['\\]/.test(next)
}

function add(state: State, character: string): void {
  state.text += character
  state.isOpen = true
}

function endWord(state: State): void {
  if (state.isOpen) state.words.push(state.text)
  state.text = ''
  state.isOpen = false
  state.kept = 0
}

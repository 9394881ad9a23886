import type { Command, Option } from 'commander'
import type { Shell } from './shells.ts'

/** A command line up to the cursor, as the shell reads it. */
export interface TypedLine {
  /** The words after the program name, without the one at the cursor. */
  readonly before: readonly string[]
  /** The typed part of the word at the cursor. */
  readonly current: string
  /** The quote that is open at the cursor. */
  readonly quote: '' | "'" | '"'
  /** Number of characters of `current` that bash keeps: it replaces only those after the last word break. */
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

/** Recognises `sudo leasectl`, `npx leasectl` and a path. An alias is the first word. */
function isProgram(word: string): boolean {
  return /(^|\/)leasectl(\.js)?$/.test(word)
}

interface State {
  readonly words: string[]
  text: string
  /** A word has begun, even if only with an empty pair of quotes. */
  isOpen: boolean
  quote: TypedLine['quote']
  kept: number
  beforeQuote: number
}

/** Processes one character. Returns the number of further characters that belong to it. */
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

/** Whether a backslash escapes the next character. */
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

/** The kind of word expected at the cursor, and the words before it. */
export interface CursorPlace {
  readonly command: Command
  /** Arguments of the command before the cursor. */
  readonly operands: readonly string[]
  /** The last value of each flag, by attribute. */
  readonly given: Readonly<Record<string, string>>
  readonly wanted:
    | { readonly kind: 'flag' }
    /** `lead` precedes the value in the same word: `--status=`. */
    | { readonly kind: 'value'; readonly option: Option; readonly lead: string }
    /** A command, or the next argument. `flags`: a flag is possible too. */
    | { readonly kind: 'operand'; readonly flags: boolean }
}

/** Reads the words before the cursor as the parser does, but without errors. */
export function placeOf(program: Command, before: readonly string[], current: string): CursorPlace {
  const walk = new Walk(program)
  for (const word of before) walk.take(word)
  return { command: walk.command, operands: walk.operands, given: walk.given, wanted: walk.wanted(current) }
}

class Walk {
  command: Command
  operands: string[] = []
  readonly given: Record<string, string> = {}
  /** The flag whose value comes next. */
  #pending: Option | undefined
  /** After `--` everything is an argument. */
  #onlyOperands = false

  constructor(program: Command) {
    this.command = program
  }

  take(word: string): void {
    if (this.#pending !== undefined) {
      this.#give(this.#pending, word)
      this.#pending = undefined
    } else if (this.#onlyOperands || word === '-' || !word.startsWith('-')) {
      this.#operand(word)
    } else if (word === '--') {
      this.#onlyOperands = true
    } else {
      this.#flag(word)
    }
  }

  wanted(current: string): CursorPlace['wanted'] {
    if (this.#pending !== undefined) return { kind: 'value', option: this.#pending, lead: '' }
    if (this.#onlyOperands || !current.startsWith('-')) return { kind: 'operand', flags: !this.#onlyOperands }
    const [, lead = '', name = ''] = /^((--[^=]+)=)/.exec(current) ?? []
    const option = this.#option(name)
    return option !== undefined && takesValue(option) ? { kind: 'value', option, lead } : { kind: 'flag' }
  }

  #operand(word: string): void {
    const next = commandNamed(this.command, word)
    if (next !== undefined && this.operands.length === 0 && !this.#onlyOperands) this.command = next
    else this.operands.push(word)
  }

  #flag(word: string): void {
    const [, long, value] = /^(--[^=]+)(?:=(.*))?$/s.exec(word) ?? []
    if (long === undefined) {
      this.#shortFlags(word.slice(1))
      return
    }
    const option = this.#option(long)
    if (option === undefined || !takesValue(option)) return
    if (value === undefined) this.#pending = option
    else this.#give(option, value)
  }

  /** `-qc prod`, `-cprod`: the first flag with a value takes the rest of the word, or the next word. */
  #shortFlags(letters: string): void {
    for (let at = 0; at < letters.length; at++) {
      const option = this.#option(`-${letters.charAt(at)}`)
      if (option === undefined || !takesValue(option)) continue
      const value = letters.slice(at + 1)
      if (value === '') this.#pending = option
      else this.#give(option, value)
      return
    }
  }

  #give(option: Option, value: string): void {
    this.given[option.attributeName()] = value
  }

  #option(flag: string): Option | undefined {
    return this.command.options.find(({ short, long }) => short === flag || long === flag)
  }
}

/** The command of a group with this name or alias. */
export function commandNamed(group: Command, word: string): Command | undefined {
  return group.commands.find(command => command.name() === word || command.aliases().includes(word))
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional
}

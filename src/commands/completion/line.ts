import type { Command, Option } from 'commander'
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

/** What is looked for at the cursor, and what was said before it. */
export interface CursorPlace {
  readonly command: Command
  /** Arguments of the command that stand before the cursor. */
  readonly operands: readonly string[]
  /** Flags with their values, by attribute; the last one of each. */
  readonly given: Readonly<Record<string, string>>
  readonly wanted:
    | { readonly kind: 'flag' }
    /** `lead` stands before the value in the same word: `--status=`. */
    | { readonly kind: 'value'; readonly option: Option; readonly lead: string }
    /** A command, or the next argument. `flags`: one may stand here as well. */
    | { readonly kind: 'operand'; readonly flags: boolean }
}

/** Reads the words before the cursor as the parser would, without complaint. */
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
  #waiting: Option | undefined
  /** After `--` everything is an argument. */
  #onlyOperands = false

  constructor(program: Command) {
    this.command = program
  }

  take(word: string): void {
    if (this.#waiting !== undefined) {
      this.#give(this.#waiting, word)
      this.#waiting = undefined
    } else if (this.#onlyOperands || word === '-' || !word.startsWith('-')) {
      this.#operand(word)
    } else if (word === '--') {
      this.#onlyOperands = true
    } else {
      this.#flag(word)
    }
  }

  wanted(current: string): CursorPlace['wanted'] {
    if (this.#waiting !== undefined) return { kind: 'value', option: this.#waiting, lead: '' }
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
    if (value === undefined) this.#waiting = option
    else this.#give(option, value)
  }

  /** `-qc prod`, `-cprod`: the first that takes a value takes the rest of the word, if there is one. */
  #shortFlags(letters: string): void {
    for (let at = 0; at < letters.length; at++) {
      const option = this.#option(`-${letters.charAt(at)}`)
      if (option === undefined || !takesValue(option)) continue
      const value = letters.slice(at + 1)
      if (value === '') this.#waiting = option
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

/** The command of a group that has this name, or this one besides. */
export function commandNamed(group: Command, word: string): Command | undefined {
  return group.commands.find(command => command.name() === word || command.aliases().includes(word))
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional
}

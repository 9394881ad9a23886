import { UsageError } from '../../cli/problem.ts'
import { added } from '../../cli/values.ts'

/** A hook as configured; the existence of its program is checked later. */
export type HookSetting = CommandSetting | WebhookSetting

interface Common {
  /** Its name in errors: the flag, or file, line and key. */
  readonly where: string
  readonly timeoutMs?: number
  readonly tries?: number
}

export interface CommandSetting extends Common {
  readonly kind: 'command'
  readonly argv: readonly [string, ...string[]]
  /** Base of a relative path; by default the working directory. */
  readonly folder?: string
}

export interface WebhookSetting extends Common {
  readonly kind: 'webhook'
  /** https, or http on this machine, without a user. */
  readonly url: string
  /** Where to read the secret: the configuration itself never contains it. */
  readonly secret?: { readonly file: string } | { readonly env: string }
  /** Private networks that webhooks may reach. */
  readonly networks?: readonly string[]
  /** Base of the relative path of a secret. */
  readonly folder?: string
}

/** Hint of errors. */
const FORMS = `a path, or a JSON array: '["notify","--team","x"]'`

/**
 * A program: a path, never split and never passed to a shell, or a JSON array of program and arguments. The flag may be
 * repeated.
 */
export function hookCommand(
  flag: string,
): (text: string, previous?: readonly CommandSetting[]) => readonly CommandSetting[] {
  return added(text => {
    const argv = text.startsWith('[') ? jsonArgv(flag, text) : commandOf(flag, [text])
    return { kind: 'command', where: flag, argv }
  })
}

/** Program and arguments. @throws UsageError for a missing program, empty words and words that no system can pass on */
export function commandOf(flag: string, words: readonly unknown[]): readonly [string, ...string[]] {
  const [program, ...args] = words.map((word, at) => checkedWord(flag, word, at))
  if (program === undefined) throw new UsageError(`${flag} names no program`, { hint: FORMS })
  return [program, ...args]
}

/** A share from 0 to 1: `20%` or `0.2`. A bare 1 is ambiguous: 1% or 100%. */
export function shareValue(flag: string): (text: string) => number {
  return text => {
    const [, percent, fraction] = /^(?:(\d{1,3}(?:\.\d+)?)\s?%|(0|[01]?\.\d+))$/.exec(text) ?? []
    const value = percent === undefined ? Number(fraction ?? Number.NaN) : Number(percent) / 100
    if (value <= 1) return value
    throw new UsageError(`${flag} does not take ${JSON.stringify(text)}`, { hint: shareHint(text) })
  }
}

function shareHint(text: string): string {
  if (text === '1') return 'Write 1% or 100%.'
  return /^\d+$/.test(text) && Number(text) <= 100 ? `Write ${text}%.` : 'from 0% to 100%: 20% or 0.2'
}

function jsonArgv(flag: string, text: string): readonly [string, ...string[]] {
  const words = parsedJson(flag, text)
  if (!Array.isArray(words)) throw new UsageError(`${flag} is not a JSON array`, { hint: FORMS })
  return commandOf(flag, words)
}

function parsedJson(flag: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new UsageError(`${flag} begins with [ but is not JSON`, { cause, hint: `Quote it for the shell: ${FORMS}` })
  }
}

function checkedWord(flag: string, word: unknown, at: number): string {
  const which = at === 0 ? 'the program' : `argument ${at}`
  if (typeof word !== 'string') throw new UsageError(`${flag}: ${which} is not a string`, { hint: FORMS })
  if (word === '') {
    throw new UsageError(`${flag}: ${which} is empty`, { hint: `An unset shell variable? Write ${FORMS}` })
  }
  if (word.includes('\0')) throw new UsageError(`${flag}: ${which} contains a NUL character`)
  return word
}

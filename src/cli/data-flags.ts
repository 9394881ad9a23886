import { type Command, Option } from 'commander'
import { InvalidValue } from '../stream/errors.ts'
import { checkMediaType } from '../stream/media-type.ts'
import { UsageError } from './problem.ts'

/** Where the bytes of `--data` or `--result` come from. */
export type DataSource =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'stdin' }

/** Flags of commands that make events. */
export interface DataFlags {
  readonly data?: DataSource
  /** Media type. */
  readonly dataType?: string
}

/** Flags of commands that end the work of an event. */
export interface ResultFlags {
  readonly result?: DataSource
  /** Media type. */
  readonly resultType?: string
}

/** Adds `--data` and `--data-type`. @param whose the events that get the data */
export function dataFlags(command: Command, whose: string): Command {
  return sourceFlags(command, 'data', `input of ${whose}`)
}

/** Adds `--result` and `--result-type`. */
export function resultFlags(command: Command): Command {
  return sourceFlags(command, 'result', 'result of the event')
}

function sourceFlags(command: Command, name: 'data' | 'result', what: string): Command {
  return command
    .addOption(
      new Option(`--${name} <text>`, `${what}, up to 16 MiB: a text, @FILE, or - for standard input`).argParser(
        dataSource(`--${name}`),
      ),
    )
    .addOption(
      new Option(`--${name}-type <media/type>`, 'its media type (default: guessed from the content)').argParser(
        mediaType(`--${name}-type`),
      ),
    )
}

/** Parses a text, `@FILE` or `-`. `@@` begins a text with `@`. */
export function dataSource(flag: string): (text: string) => DataSource {
  return text => {
    if (text === '-') return { kind: 'stdin' }
    if (text.startsWith('@@')) return { kind: 'text', text: text.slice(1) }
    if (!text.startsWith('@')) return { kind: 'text', text }
    if (text.length > 1) return { kind: 'file', path: text.slice(1) }
    throw new UsageError(`${flag} @ names no file`, { hint: `${flag} @FILE, or ${flag} @@ for the text @.` })
  }
}

function mediaType(flag: string): (text: string) => string {
  return text => inDataFlag(flag, () => checkMediaType(text))
}

/** Puts the flag before the message of an invalid value. */
export function inDataFlag<Value>(flag: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error
    throw new UsageError(`${flag}: ${error.message}`, { cause: error, ...(error.hint ? { hint: error.hint } : {}) })
  }
}

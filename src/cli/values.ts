import type { TextPattern } from '../ops/filter.ts'
import { globOf } from '../ops/glob.ts'
import { checkStreamName, isReservedName, isStoredName, RESERVED_PREFIX } from '../store/names.ts'
import { InvalidValue } from '../stream/errors.ts'
import { checkCommandId, checkText } from '../stream/text.ts'
import { parseDuration, timeoutFromInput } from '../stream/time/durations.ts'
import { nearest } from '../util/strings.ts'
import { UsageError } from './problem.ts'

/** Values of flags, parsed where they enter. Each error says how to write it. */

/** A text that must not be empty. */
export function nonEmpty(flag: string): (text: string) => string {
  return text => {
    if (text === '')
      throw new UsageError(`${flag} is empty`, {
        hint: 'An unset shell variable? Leave the flag out or give it a value.',
      })
    return text
  }
}

/** A pattern over whole names, as it was given. */
export function pattern(flag: string): (text: string) => string {
  return text => {
    inFlag(flag, () => globOf(nonEmpty(flag)(text)))
    return text
  }
}

/** Collects the values of a flag that may be given several times. */
export function added<Value>(
  parse: (text: string) => Value,
): (text: string, previous?: readonly Value[]) => readonly Value[] {
  return (text, previous = []) => [...previous, parse(text)]
}

/** A part of a text, or a regular expression between slashes. Both ignore case. */
export function textPattern(flag: string): (text: string) => TextPattern {
  return text => {
    const [, source] = /^\/(.+)\/$/s.exec(nonEmpty(flag)(text)) ?? []
    if (source === undefined) return { matches: whole => whole.toLowerCase().includes(text.toLowerCase()) }
    try {
      const expression = new RegExp(source, 'iu')
      return { matches: whole => expression.test(whole) }
    } catch (cause) {
      throw new UsageError(`${flag} ${text}: not a regular expression`, {
        cause,
        hint: `Write ${flag} TEXT for a text that is contained, or ${flag} '/HTTP 50[0-9]/'.`,
      })
    }
  }
}

/** The name of a context. */
export function contextName(flag: string): (text: string) => string {
  return text => {
    if (/^[A-Za-z0-9][\w.-]*$/.test(nonEmpty(flag)(text))) return text
    throw new UsageError(`${flag} does not take ${JSON.stringify(text)}`, {
      hint: 'Names of contexts have letters, digits, ".", "_" and "-", and begin with a letter or digit.',
    })
  }
}

/** Names joined by commas: `A,B,C`. */
export function names(flag: string): (text: string, previous?: readonly string[]) => readonly string[] {
  return (text, previous = []) => {
    const given = text.split(',').map(name => name.trim())
    if (given.includes('')) throw new UsageError(`${flag} ${text}: a name is empty`, { hint: `Write ${flag} A,B,C.` })
    for (const name of given) storedText(flag)(name)
    return [...previous, ...given]
  }
}

/** A parser that takes a few words, or some that begin with them; the shell completes them. */
export type WithWords<Parser> = Parser & { readonly words: readonly string[] }

export function withWords<Parser extends (...args: never[]) => unknown>(
  words: readonly string[],
  parser: Parser,
): WithWords<Parser> {
  return Object.assign(parser, { words })
}

/** One of a few words. */
export function choice<Word extends string>(flag: string, words: readonly Word[]): WithWords<(text: string) => Word> {
  return withWords(words, text => {
    const word = words.find(candidate => candidate === text)
    if (word !== undefined) return word
    const near = nearest(text, words)
    throw new UsageError(`${flag} does not take ${JSON.stringify(text)}`, {
      hint: near === undefined ? `one of ${words.join(', ')}` : `did you mean ${near}? One of ${words.join(', ')}.`,
    })
  })
}

/** Words joined by commas, each one of a few. */
export function choices(
  flag: string,
  words: readonly string[],
): WithWords<(text: string, previous?: readonly string[]) => readonly string[]> {
  const one = choice(flag, words)
  return withWords(words, (text, previous = []) => [...previous, ...text.split(',').map(word => one(word.trim()))])
}

/** A whole number from `least` on. */
export function count(flag: string, least: number): (text: string) => number {
  return text => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= least)) {
      throw new UsageError(`${flag} does not take ${JSON.stringify(text)}`, { hint: `a whole number from ${least} on` })
    }
    return value
  }
}

const MOST_AT_ONCE = 64

/** How many streams at a time. */
export function atOnce(text: string): number {
  const value = count('--concurrency', 1)(text)
  if (value <= MOST_AT_ONCE) return value
  throw new UsageError(`--concurrency ${value} is too many`, { hint: `a whole number from 1 to ${MOST_AT_ONCE}` })
}

/** A factor above 0, at most 1000. */
export function factor(flag: string): (text: string) => number {
  return text => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
    if (value > 0 && value <= 1000) return value
    throw new UsageError(`${flag} does not take ${JSON.stringify(text)}`, {
      hint: 'a number above 0 and up to 1000, such as 2 or 0.5',
    })
  }
}

/** How many lines: a number or `all`. */
export function lineCount(text: string): number {
  return text === 'all' ? Number.POSITIVE_INFINITY : count('-n', 0)(text)
}

/** A length of time with its unit, in ms. */
export function duration(flag: string, { zero = false }: { zero?: boolean } = {}): (text: string) => number {
  return text => {
    const ms = inFlag(flag, () => parseDuration(text))
    if (ms > 0 || zero) return ms
    throw new UsageError(`${flag} ${text}: must be longer than nothing`, { hint: 'Write 30s, 5m or 1h30m.' })
  }
}

/** A limit of time as it is written on the wire. */
export function timeout(text: string): string {
  return inFlag('--timeout', () => timeoutFromInput(text))
}

/** A text that goes into the document as it is. */
export function storedText(flag: string, kind: 'msg' | 'reason' | 'other' = 'other'): (text: string) => string {
  return text => {
    inFlag(flag, () => checkText(kind, text), `${kind}: `)
    return text
  }
}

/** The id of a lease. */
export function leaseId(flag: string): (text: string) => string {
  return text => {
    if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text.toLowerCase()
    throw new UsageError(`${flag} does not take ${JSON.stringify(text)}`, {
      hint: 'a UUID, as lease acquire prints it',
    })
  }
}

/** A text for the document that is not empty. */
export function requiredText(flag: string): (text: string) => string {
  return text => storedText(flag)(nonEmpty(flag)(text))
}

/** Runs a check and names the flag in front of what it finds, in place of what the check calls the text. */
export function inFlag<Value>(flag: string, check: () => Value, called = ''): Value {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error
    const message = error.message.startsWith(called) ? error.message.slice(called.length) : error.message
    throw new UsageError(`${flag}: ${message}`, {
      cause: error,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
    })
  }
}

/** A caller's own id for a command. */
export function commandId(text: string): string {
  inFlag('--command-id', () => checkCommandId(text))
  return text
}

const EVENT_ID = /^\d{2,}(\.\d{2,})*$/

/** The name of a stream: never empty, never an event id by mistake, never one of leasectl's own documents. */
export function streamName(text: string): string {
  return named(text, `The name of the stream comes first; ${text} would be an event of it.`)
}

function named(text: string, hint: string): string {
  if (text === '') {
    throw new UsageError('the name of the stream is empty', { hint: 'An unset shell variable? Quote and check it.' })
  }
  if (EVENT_ID.test(text)) {
    throw new UsageError(`${text} looks like an event id where a STREAM is expected`, {
      hint,
    })
  }
  checkStreamName(text)
  return text
}

/** For arguments that may be given several times. */
export function streamNames(text: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, streamName(text)]
}

/** Names of blobs as they are, for what no stream can be called. */
export function blobNames(text: string, previous: readonly string[] = []): readonly string[] {
  if (text === '') throw new UsageError('--blob: the name is empty', { hint: 'An unset shell variable?' })
  if (isReservedName(text)) throw new UsageError(`names under ${RESERVED_PREFIX} are reserved`)
  if (isStoredName(text)) return [...previous, streamName(text)]
  return [...previous, text]
}

/** For commands that take events by `-e` too. */
export function streamNamesBesideEvents(text: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, named(text, `did you mean -e ${text}?`)]
}

/** The id of an event: any text, as other writers may have chosen it. */
export function eventId(text: string): string {
  if (text === '')
    throw new UsageError('the id of the event is empty', { hint: 'An unset shell variable? Ids look like 01.02.00.' })
  return text
}

export function eventIds(text: string, previous: readonly string[] = []): readonly string[] {
  return previous.includes(eventId(text)) ? previous : [...previous, text]
}

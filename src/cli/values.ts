import type { TextPattern } from '../ops/filter.ts'
import { globOf } from '../ops/glob.ts'
import { checkStreamName, isReservedName, isStoredName, RESERVED_PREFIX } from '../store/names.ts'
import { InvalidValue } from '../stream/errors.ts'
import { checkCommandId, checkText } from '../stream/text.ts'
import { formatTimeSpan, isIsoTime, parseDuration, timeoutFromInput } from '../stream/time/durations.ts'
import { nearest } from '../util/strings.ts'
import { UsageError } from './problem.ts'

/** Parsers of flag values. Each error says how to write the value. */

/** A non-empty text. */
export function nonEmpty(flag: string): (text: string) => string {
  return text => {
    if (text === '')
      throw new UsageError(`${flag} is empty`, {
        hint: 'An unset shell variable? Leave the flag out or give it a value.',
      })
    return text
  }
}

/** A flag that may be given once: of two values, the user may mean either. */
export function once<Value>(flag: string, parse: (text: string) => Value): (text: string, previous?: Value) => Value {
  return (text, previous) => {
    const value = parse(text)
    if (previous !== undefined && previous !== value) throw givenTwice(flag)
    return value
  }
}

export function givenTwice(flag: string): UsageError {
  return new UsageError(`${flag} is given twice, with different values`, { hint: 'Leave one of them out.' })
}

/** A glob, checked and returned as given. */
export function pattern(flag: string): (text: string) => string {
  return text => {
    inFlag(flag, () => globOf(nonEmpty(flag)(text)))
    return text
  }
}

/** Marks the parser of a flag that may be given several times, for the catalogue of `help -o json`. */
export function repeatable<Parser extends (...args: never[]) => unknown>(
  parser: Parser,
): Parser & { readonly isRepeatable: true } {
  return Object.assign(parser, { isRepeatable: true } as const)
}

/** Whether the flag of this parser may be given several times. */
export function isRepeatable(parser: unknown): boolean {
  return typeof parser === 'function' && 'isRepeatable' in parser
}

/** Collects the values of a flag that may be given several times. */
export function added<Value>(
  parse: (text: string) => Value,
): (text: string, previous?: readonly Value[]) => readonly Value[] {
  return repeatable((text: string, previous: readonly Value[] = []) => [...previous, parse(text)])
}

/** A part of a text, or a regular expression between slashes. Both ignore case. */
export function textPattern(flag: string): (text: string) => TextPattern {
  return text => {
    const [, source] = /^\/(.+)\/$/s.exec(nonEmpty(flag)(text)) ?? []
    if (source === undefined) return { text, matches: whole => whole.toLowerCase().includes(text.toLowerCase()) }
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
    const several =
      flag === '-c' && text.includes(',') ? 'It takes one context: only ls, check and top read several. ' : ''
    throw new UsageError(`${flag} does not take ${JSON.stringify(text)}`, {
      hint: `${several}Names of contexts consist of letters, digits, ".", "_" and "-", and begin with a letter or digit.`,
    })
  }
}

/** Names of contexts, separated by commas or in several flags. */
export function contextNames(text: string, previous: readonly string[] = []): readonly string[] {
  return [...new Set([...previous, ...text.split(',').map(contextName('-c'))])]
}

/** Names separated by commas: `A,B,C`. */
export function names(flag: string): (text: string, previous?: readonly string[]) => readonly string[] {
  return repeatable((text: string, previous: readonly string[] = []) => {
    const given = text.split(',').map(name => name.trim())
    if (given.includes('')) throw new UsageError(`${flag} ${text}: a name is empty`, { hint: `Write ${flag} A,B,C.` })
    for (const name of given) storedText(flag)(name)
    return [...previous, ...given]
  })
}

/** A parser with the words that it accepts, for completion by the shell. */
export type WithWords<Parser> = Parser & { readonly words: readonly string[] }

export function withWords<Parser extends (...args: never[]) => unknown>(
  words: readonly string[],
  parser: Parser,
): WithWords<Parser> {
  return Object.assign(parser, { words })
}

/** One word of a fixed set. */
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

/** Words of a fixed set, separated by commas. */
export function choices(
  flag: string,
  words: readonly string[],
): WithWords<(text: string, previous?: readonly string[]) => readonly string[]> {
  const one = choice(flag, words)
  const parser = (text: string, previous: readonly string[] = []) => [
    ...previous,
    ...text.split(',').map(word => one(word.trim())),
  ]
  return withWords(words, repeatable(parser))
}

/** A whole number of at least `least`. */
export function count(flag: string, least: number): (text: string) => number {
  return text => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= least)) {
      throw new UsageError(`${flag} does not take ${JSON.stringify(text)}`, {
        hint: `a whole number, at least ${least}`,
      })
    }
    return value
  }
}

const MAX_CONCURRENCY = 64

/** The value of `--concurrency`. */
export function concurrency(text: string): number {
  const value = count('--concurrency', 1)(text)
  if (value <= MAX_CONCURRENCY) return value
  throw new UsageError(`--concurrency ${value} is too many`, { hint: `a whole number from 1 to ${MAX_CONCURRENCY}` })
}

/** A factor above 0, at most 1000. */
export function factor(flag: string): (text: string) => number {
  return text => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
    if (value > 0 && value <= 1000) return value
    throw new UsageError(`${flag} does not take ${JSON.stringify(text)}`, {
      hint: 'a number above 0, at most 1000, such as 2 or 0.5',
    })
  }
}

/** A number of lines, or `all`. */
export function lineCount(text: string): number {
  return text === 'all' ? Number.POSITIVE_INFINITY : count('-n', 0)(text)
}

/** A duration with its unit, in ms. */
export function duration(flag: string, { zero = false }: { zero?: boolean } = {}): (text: string) => number {
  return text => {
    const ms = inFlag(flag, () => parseDuration(text))
    if (ms > 0 || zero) return ms
    throw new UsageError(`${flag} ${text}: must be greater than 0`, { hint: 'Write 30s, 5m or 1h30m.' })
  }
}

/** Shorter claims end before their heartbeat can arrive. */
const SHORTEST_CLAIM_MS = 100
/** Only its end frees the event of a worker that has died. */
const LONGEST_CLAIM_MS = 7 * 24 * 3_600_000

/** The value of `--claim`. */
export function claimDuration(text: string): number {
  const ms = duration('--claim')(text)
  if (ms >= SHORTEST_CLAIM_MS && ms <= LONGEST_CLAIM_MS) return ms
  throw new UsageError(`--claim ${text}: must be between 100ms and 7d`, {
    hint: 'A claim blocks the event until it ends, and a heartbeat prolongs it: write 30s, 5m or 1h.',
  })
}

/** A duration in its stored form. */
export function storedDuration(flag: string): (text: string) => string {
  return text => formatTimeSpan(duration(flag)(text))
}

/** A point in time in its stored form. */
export function storedTime(flag: string): (text: string) => string {
  return text => {
    if (isIsoTime(text.trim())) return inFlag(flag, () => timeoutFromInput(text))
    throw new UsageError(`${flag} ${text}: not a time`, {
      hint: `Write a date and time with its zone: ${flag} 2026-11-20T14:00:00Z`,
    })
  }
}

/** A timeout in its stored form. */
export function timeout(text: string): string {
  return inFlag('--timeout', () => timeoutFromInput(text))
}

/** A text that is stored in the document. */
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

/** A non-empty text that is stored in the document. */
export function requiredText(flag: string): (text: string) => string {
  return text => storedText(flag)(nonEmpty(flag)(text))
}

/** Runs a check and puts the flag before its error message, instead of the word `called` that the check begins with. */
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

/** The value of `--command-id`. */
export function commandId(text: string): string {
  inFlag('--command-id', () => checkCommandId(text))
  return text
}

const EVENT_ID = /^\d{2,}(\.\d{2,})*$/

/** The name of a stream: not empty, not an event id, not a document of leasectl itself. */
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

/** A name of a stream in a list of arguments. */
export function streamNames(text: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, streamName(text)]
}

/** Names of blobs, also those that no stream can have. */
export const blobNames = added((text: string): string => {
  if (text === '') throw new UsageError('--blob: the name is empty', { hint: 'An unset shell variable?' })
  if (isReservedName(text)) throw new UsageError(`names under ${RESERVED_PREFIX} are reserved`)
  return isStoredName(text) ? streamName(text) : text
})

/** As `streamNames`, for commands that also have `-e`. */
export function streamNamesBesideEvents(text: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, named(text, `did you mean -e ${text}? --match ${text} selects a stream of this name`)]
}

/** The id of an event: any text, since other writers choose their own ids. */
export function eventId(text: string): string {
  if (text === '')
    throw new UsageError('the id of the event is empty', { hint: 'An unset shell variable? Ids look like 01.02.00.' })
  return text
}

export const eventIds = repeatable((text: string, previous: readonly string[] = []): readonly string[] =>
  previous.includes(eventId(text)) ? previous : [...previous, text],
)

/** A point in time as typed: a duration ago, an instant, or a time of today. */
export type PointInTime =
  | { readonly kind: 'ago'; readonly ms: number }
  | { readonly kind: 'at'; readonly ms: number }
  | { readonly kind: 'today'; readonly hours: number; readonly minutes: number; readonly seconds: number }

/**
 * Reads `30m`, `30m ago`, `2026-11-20T14:00:00Z`, `2026-11-20`, `2026-11-20 14:00` (local time), and `14:00` (today, or
 * yesterday if that is in the future).
 */
export function pointInTime(flag: string): (text: string) => PointInTime {
  return text => {
    const point = timeOfDay(text) ?? instant(text) ?? ago(text)
    if (point !== undefined) return point
    const [, bare] = BARE.exec(text) ?? []
    const what =
      bare === undefined
        ? `${JSON.stringify(text)} is not a time`
        : `${bare} has no unit: ${bare}s, ${bare}m, ${bare}h or ${bare}d`
    throw new UsageError(`${flag}: ${what}`, {
      hint: 'Write a duration ago (30m, 2h, 1d), a time (14:00), a local date and time (2026-11-20 14:00) or RFC 3339.',
    })
  }
}

/** The point in time as epoch ms. */
export function atMs(point: PointInTime, nowMs: number): number {
  switch (point.kind) {
    case 'ago':
      return nowMs - point.ms
    case 'at':
      return point.ms
    case 'today': {
      const day = new Date(nowMs)
      day.setHours(point.hours, point.minutes, point.seconds, 0)
      if (day.getTime() > nowMs) day.setDate(day.getDate() - 1)
      return day.getTime()
    }
    default:
      return point satisfies never
  }
}

/** Tolerated difference between the clocks of this machine and of the user, ms. */
const CLOCKS_DIFFER_MS = 60_000

/** A time in the past as epoch ms. @throws UsageError if it is in the future, where nothing has happened */
export function sinceMsOf(point: PointInTime, nowMs: number, flag = '--since'): number {
  const ms = atMs(point, nowMs)
  if (ms <= nowMs + CLOCKS_DIFFER_MS) return ms
  throw new UsageError(`${flag} is in the future: ${new Date(ms).toISOString()}`, {
    hint: 'Nothing has happened since then. 30m means half an hour ago; a date without a zone is local.',
  })
}

function timeOfDay(text: string): PointInTime | undefined {
  const [, hours, minutes, seconds = '0'] = /^(\d{1,2}):(\d\d)(?::(\d\d))?$/.exec(text) ?? []
  if (hours === undefined || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return undefined
  return { kind: 'today', hours: Number(hours), minutes: Number(minutes), seconds: Number(seconds) }
}

const INSTANT = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/i

function instant(text: string): PointInTime | undefined {
  const [, year, month, day, hours = '00', minutes = '00', seconds = '00', zone] = INSTANT.exec(text) ?? []
  if (year === undefined) return undefined
  const ms = Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}${zone?.toUpperCase() ?? ''}`)
  const fits =
    !Number.isNaN(ms) && new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day)
  return fits ? { kind: 'at', ms } : undefined
}

const BARE = /^(\d+)(?:\s+ago)?$/i

function ago(text: string): PointInTime | undefined {
  if (BARE.test(text)) return undefined
  try {
    const ms = parseDuration(text.replace(/\s+ago$/i, ''))
    return { kind: 'ago', ms }
  } catch {
    return undefined
  }
}

import { nearest } from '../util/strings.ts'
import { visibleText } from '../util/visible-text.ts'
import { InvalidValue } from './errors.ts'
import { checkText } from './text.ts'
import { isoTime } from './time/dates.ts'
import { formatDuration, parseDuration, parseTimeout, timeoutFromInput } from './time/durations.ts'

/**
 * Readers for values from a calling program: a JavaScript program may pass anything. A value that passes has the type
 * that the rest of the code relies on; each error names the field, the given value and the valid ones.
 */

/** Reads a value. @throws InvalidValue with the name of the field */
export type Read<Value> = (given: unknown, field: string) => Value

/** A required field. */
export interface Required<Value> {
  readonly needed: Read<Value>
}

/** A reader for each field of a type; the compiler requires `needed` for exactly the fields that are not optional. */
export type Fields<Type> = {
  readonly [Name in keyof Type]-?: Record<never, never> extends Pick<Type, Name>
    ? Read<Exclude<Type[Name], undefined>>
    : Required<Type[Name]>
}

export function required<Value>(read: Read<Value>): Required<Value> {
  return { needed: read }
}

/** Reads an object with these fields and no others. An `undefined` field counts as absent; each is read once. */
export function objectOf<Type extends object>(fields: Fields<Type>): Read<Type> {
  const readers = Object.entries<Read<unknown> | Required<unknown>>(fields)
  const known = new Set(Object.keys(fields))
  return (given, field) => {
    const values = plainObject(given, field, known)
    for (const name of Object.keys(values)) if (!known.has(name)) throw unknownField(within(field, name), name, known)
    const read: Record<string, unknown> = {}
    for (const [name, reader] of readers) {
      const value = values[name]
      if (typeof reader !== 'function') read[name] = reader.needed(value, within(field, name))
      else if (value !== undefined) read[name] = reader(value, within(field, name))
    }
    return read as Type
  }
}

/** Reads a union of objects by their `op`. @param fieldsOf the other fields of each */
export function oneOfOps<Type extends { readonly op: string }>(
  fieldsOf: {
    readonly [Op in Type['op']]: Fields<Omit<Extract<Type, { readonly op: Op }>, 'op'>>
  },
): Read<Type> {
  const kinds = Object.entries<object>(fieldsOf).map(([op, fields]) => {
    return [op, objectOf({ op: required(word([op])), ...fields } as Fields<Type>)] as const
  })
  const readers = new Map(kinds)
  const known = new Set(['op'])
  const ops = word([...readers.keys()])
  return (given, field) => {
    const read = readers.get(ops(plainObject(given, field, known).op, within(field, 'op')))
    if (read === undefined) throw wrong(field, given, 'an object')
    return read(given, field)
  }
}

export function listOf<Value>(read: Read<Value>): Read<readonly Value[]> {
  return (given, field) => {
    if (!Array.isArray(given)) throw wrong(field, given, 'a list')
    return Array.from(given, (item: unknown, at) => read(item, `${field}[${at}]`))
  }
}

export const text: Read<string> = (given, field) => {
  if (typeof given !== 'string') throw wrong(field, given, 'a text')
  return given
}

export const nonEmptyText: Read<string> = (given, field) => {
  if (text(given, field) === '') throw wrong(field, given, 'a text that is not empty')
  return text(given, field)
}

/** Reads a text that a document can hold. */
export function storedText(kind: 'msg' | 'reason' | 'other' = 'other'): Read<string> {
  return (given, field) => {
    const read = text(given, field)
    inField(field, () => checkText(kind, read), `${kind}: `)
    return read
  }
}

/** Reads a text that a document can hold and that is not empty. */
export const requiredText: Read<string> = (given, field) => storedText()(nonEmptyText(given, field), field)

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export const uuid: Read<string> = (given, field) => {
  if (UUID.test(text(given, field))) return text(given, field)
  throw wrong(field, given, 'a UUID', 'randomUUID() of node:crypto makes one.')
}

/** Reads one of these words. */
export function word<Word extends string>(words: readonly Word[]): Read<Word> {
  return (given, field) => {
    const found = words.find(candidate => candidate === given)
    if (found !== undefined) return found
    const near = typeof given === 'string' ? nearest(given, words) : undefined
    const hint = near === undefined ? undefined : `did you mean ${near}?`
    throw wrong(field, given, `one of ${words.map(known => (known === '' ? '""' : known)).join(', ')}`, hint)
  }
}

export const flag: Read<boolean> = (given, field) => {
  if (typeof given !== 'boolean') throw wrong(field, given, 'true or false')
  return given
}

/** Reads a whole number in a range. */
export function whole(least: number, most = Number.MAX_SAFE_INTEGER): Read<number> {
  const range = most === Number.MAX_SAFE_INTEGER ? `from ${least} on` : `from ${least} to ${most}`
  return (given, field) => {
    if (Number.isSafeInteger(given) && Number(given) >= least && Number(given) <= most) return Number(given)
    throw wrong(field, given, `a whole number ${range}`)
  }
}

/** Reads a duration in ms. */
export function milliseconds(least: number, most = Number.POSITIVE_INFINITY): Read<number> {
  const range = most === Number.POSITIVE_INFINITY ? `from ${least} on` : `from ${least} to ${most}`
  return (given, field) => {
    if (typeof given === 'number' && given >= least && given <= most) return given
    throw wrong(field, given, `a time in ms, a number ${range}`, inMs(given))
  }
}

/** Reads a time limit: a text as on the command line, or the `Date` of its end. Returns the wire text; `''` is none. */
export const timeLimit: Read<string> = (given, field) => {
  const right = 'a text such as 2h, PT5M or 2026-11-20T14:00:00Z, or a Date'
  if (given instanceof Date) {
    const wire = Number.isNaN(given.getTime()) ? '' : isoTime(given.getTime())
    if (parseTimeout(wire).kind === 'at') return wire
    throw wrong(field, given, right)
  }
  if (typeof given !== 'string') {
    const isMs = typeof given === 'number' && given > 0 && Number.isFinite(given)
    throw wrong(field, given, right, isMs ? `${given} ms are "${formatDuration(given)}".` : undefined)
  }
  return given === '' ? '' : inField(field, () => timeoutFromInput(given))
}

/** Reads a point in time: a date and time with a zone, or a `Date`. Returns the wire text. */
export const timePoint: Read<string> = (given, field) => {
  const wire = timeLimit(given, field)
  if (parseTimeout(wire).kind === 'at') return wire
  throw wrong(field, given, 'a date and time with a zone such as 2026-11-20T14:00:00Z, or a Date')
}

export const signal: Read<AbortSignal> = (given, field) => {
  if (isSignal(given)) return given
  const isController = isObject(given) && isSignal(given.signal)
  throw wrong(field, given, 'an AbortSignal', isController ? 'did you mean its .signal?' : undefined)
}

export function callback<Callback>(given: unknown, field: string): Callback {
  if (typeof given !== 'function') throw wrong(field, given, 'a function')
  return given as Callback
}

/** Puts the name of the field before the error message of a check, in place of the check's own name for it. */
export function inField<Value>(field: string, check: () => Value, called = ''): Value {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error
    const message = error.message.startsWith(called) ? error.message.slice(called.length) : error.message
    throw new InvalidValue(`${field}: ${message}`, {
      cause: error,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
    })
  }
}

/** The error for a value that is not `right`. */
export function wrong(field: string, given: unknown, right: string, hint?: string): InvalidValue {
  const what = given === undefined ? `is missing: ${right}` : `is ${right}, not ${describe(given)}`
  return new InvalidValue(`${field} ${what}`, hint === undefined ? {} : { hint })
}

export function isObject(given: unknown): given is Readonly<Record<string, unknown>> {
  return typeof given === 'object' && given !== null
}

/** `options` is the object itself: its fields are named without a prefix. */
function within(field: string, name: string): string {
  return field === 'options' ? name : `${field}.${name}`
}

/** Accepts objects of other realms; refuses lists, dates and signals. */
function plainObject(given: unknown, field: string, known: ReadonlySet<string>): Readonly<Record<string, unknown>> {
  if (isObject(given) && kindOf(given) === 'Object') return given
  throw wrong(field, given, known.size === 0 ? 'an object' : `an object with ${[...known].join(', ')}`)
}

function unknownField(field: string, name: string, known: ReadonlySet<string>): InvalidValue {
  const near = nearest(name, [...known])
  const guess = near === undefined ? '' : `: did you mean ${near}?`
  const hint = known.size === 0 ? 'It takes no fields.' : `Known are ${[...known].join(', ')}.`
  return new InvalidValue(`${cut(visibleText(field))} is not known${guess}`, { hint })
}

function inMs(given: unknown): string | undefined {
  if (typeof given !== 'string') return undefined
  try {
    return `${given} is ${parseDuration(given)}.`
  } catch {
    return undefined
  }
}

function isSignal(given: unknown): given is AbortSignal {
  return isObject(given) && typeof given.aborted === 'boolean' && typeof given.addEventListener === 'function'
}

function describe(given: unknown): string {
  if (typeof given === 'string') return visibleText(JSON.stringify(cut(given)))
  if (typeof given === 'function') return 'a function'
  if (typeof given === 'symbol') return 'a symbol'
  if (!isObject(given)) return String(given)
  if (Array.isArray(given)) return 'a list'
  const kind = kindOf(given)
  if (kind === 'Date' && given instanceof Date && Number.isNaN(given.getTime())) return 'an invalid Date'
  return `${/^[AEIO]/.test(kind) ? 'an' : 'a'} ${kind === 'Object' ? 'object' : kind}`
}

function kindOf(given: object): string {
  return Object.prototype.toString.call(given).slice('[object '.length, -1)
}

function cut(given: string): string {
  return given.length > 60 ? `${given.slice(0, 60)}…` : given
}

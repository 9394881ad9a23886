import { InvalidValue } from '../errors.ts'
import { isoTime, readTime } from './dates.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const WEEK = 7 * DAY

/** The longest span .NET can hold: `TimeSpan.MaxValue`, 10675199.02:48:05.4775807, rounded up to ms. */
export const MAX_DURATION_MS = 922_337_203_685_478

const NUMBER = String.raw`(\d+(?:[.,]\d+)?)`
const SHORT = new RegExp(
  String.raw`^(?:${NUMBER}w)?\s*(?:${NUMBER}d)?\s*(?:${NUMBER}h)?\s*(?:${NUMBER}m)?\s*(?:${NUMBER}s)?\s*(?:${NUMBER}ms)?$`,
)
const SHORT_UNITS = [WEEK, DAY, HOUR, MINUTE, SECOND, 1]
const ISO = new RegExp(
  `^(-)?P(?:${NUMBER}W)?(?:${NUMBER}D)?(?:T(?=\\d)(?:${NUMBER}H)?(?:${NUMBER}M)?(?:${NUMBER}S)?)?$`,
)
const ISO_UNITS = [WEEK, DAY, HOUR, MINUTE, SECOND]
const ISO_UNCLEAR = /^-?P(?:\d+(?:[.,]\d+)?Y|(?:\d+(?:[.,]\d+)?Y)?\d+(?:[.,]\d+)?M)/
const TIME_SPAN = /^(-)?(?:(\d+)|(?:(\d+)\.)?(\d+):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,7}))?)?)$/
const EXAMPLES = '30s, 5m, 1h30m, 2d, PT5M or 00:05:00'

/** A duration as written in a document. */
interface Span {
  /** Never negative; fractions of a millisecond are rounded up, so that only zero becomes 0. */
  readonly ms: number
  readonly negative: boolean
  /** The number was read as days although hours or minutes may be meant: `24:00:00`, `5`. */
  readonly asDays: boolean
}

/**
 * Parses a typed duration: `30s 5m 1h30m 2d 500ms`, ISO 8601, or `[d.]hh:mm:ss`. Returns whole ms, at least 0. A plain
 * `0` needs no unit.
 * @throws InvalidValue, with the right form, for a bare number and for ambiguous texts
 */
export function parseDuration(text: string): number {
  const typed = text.trim()
  const span = parseShort(typed) ?? parseIsoDuration(typed) ?? parseTimeSpan(typed)
  if (typed === '0') return 0
  if (span === undefined || /^\d+(?::\d+)?$/.test(typed) || span.negative || span.asDays) throw unclear(typed)
  if (span.ms > MAX_DURATION_MS) throw new InvalidValue(`${typed} is too long: at most 10675199 days`)
  return span.ms
}

/**
 * Parses .NET's `[-][d.]hh:mm[:ss[.fffffff]]`. A bare integer is days, and so is a first field of 24 and more, as in
 * `24:00:00` = 24 days (https://learn.microsoft.com/dotnet/api/system.timespan.parse); a pair of fields, `30:00`, is an
 * overflow for .NET and days here. `undefined` for any other text.
 */
export function parseTimeSpan(text: string): Span | undefined {
  const match = TIME_SPAN.exec(text.trim())
  if (match === null) return undefined
  const [, sign, bare, days, ...clock] = match
  const negative = sign !== undefined
  if (bare !== undefined) return bounded(Number(bare) * DAY, negative, bare !== '0')
  const [first = 0, second = 0, third = 0] = clock.slice(0, 3).map(field => Number(field ?? 0))
  const asDays = days === undefined && first >= 24
  const [hours, minutes, seconds] = asDays ? [second, third, 0] : [first, second, third]
  if (hours >= 24 || minutes >= 60 || seconds >= 60 || (asDays && clock[3] !== undefined)) return undefined
  const wholeDays = asDays ? first : Number(days ?? 0)
  const fraction = Math.ceil(Number((clock[3] ?? '').padEnd(7, '0')) / 10_000)
  return bounded(wholeDays * DAY + hours * HOUR + minutes * MINUTE + seconds * SECOND + fraction, negative, asDays)
}

/** Parses ISO 8601 durations of weeks, days, hours, minutes, seconds, with fractions. Years and months: `undefined`. */
export function parseIsoDuration(text: string): Span | undefined {
  const match = ISO.exec(text.trim())
  if (match === null) return undefined
  const fields = match.slice(2)
  if (fields.every(field => field === undefined)) return undefined
  return bounded(total(fields, ISO_UNITS), match[1] !== undefined, false)
}

/** .NET's constant format with hh < 24: `00:05:00`, `1.00:00:00` for a day, seven fraction digits only when needed. */
export function formatTimeSpan(ms: number): string {
  const size = Math.abs(ms)
  const ticks = Math.round((size % SECOND) * 10_000)
  const days = Math.floor(size / DAY)
  const clock = [
    Math.floor((size % DAY) / HOUR),
    Math.floor((size % HOUR) / MINUTE),
    Math.floor((size % MINUTE) / SECOND),
  ]
  const fraction = ticks === 0 ? '' : `.${String(ticks).padStart(7, '0')}`
  const hhmmss = clock.map(field => String(field).padStart(2, '0')).join(':')
  return `${ms < 0 ? '-' : ''}${days > 0 ? `${days}.` : ''}${hhmmss}${fraction}`
}

/** A short form for display: the two largest units, rounded down: `2m14s`, `41s`, `3d4h`, `350ms`, `0s`. */
export function formatDuration(ms: number): string {
  const size = Math.abs(ms)
  const sign = ms < 0 ? '-' : ''
  if (size > 0 && size < SECOND) return `${sign}${Math.ceil(size)}ms`
  if (size < MINUTE) return `${sign}${Math.floor(size / SECOND)}s`
  if (size < HOUR) return sign + pair(size, MINUTE, 'm', SECOND, 's')
  return sign + (size < DAY ? pair(size, HOUR, 'h', MINUTE, 'm') : pair(size, DAY, 'd', HOUR, 'h'))
}

function pair(size: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((size % large) / small)
  return `${Math.floor(size / large)}${largeUnit}${rest > 0 ? `${rest}${smallUnit}` : ''}`
}

function parseShort(text: string): Span | undefined {
  const match = text === '' ? null : SHORT.exec(text)
  return match === null ? undefined : { ms: total(match.slice(1), SHORT_UNITS), negative: false, asDays: false }
}

function total(fields: readonly (string | undefined)[], units: readonly number[]): number {
  const ms = units.reduce((sum, unit, at) => sum + Number((fields[at] ?? '0').replace(',', '.')) * unit, 0)
  // 1.1 s is 1100.0000000000002 ms in floating point: round to ticks of 100 ns, as .NET does, before rounding up.
  return Math.ceil(Math.round(ms * 10_000) / 10_000)
}

function bounded(ms: number, negative: boolean, asDays: boolean): Span | undefined {
  return ms <= MAX_DURATION_MS ? { ms, negative: negative && ms > 0, asDays } : undefined
}

function unclear(text: string): InvalidValue {
  const [first = ''] = text.split(':')
  if (text === '') return new InvalidValue(`an empty duration: write ${EXAMPLES}`)
  if (text.startsWith('-')) return new InvalidValue(`${text}: a duration cannot be negative`)
  if (/^\d+(?:[.,]\d+)?$/.test(text))
    return new InvalidValue(`${text} has no unit: ${text}s, ${text}m, ${text}h or ${text}d`)
  if (/^\d+:\d+$/.test(text)) {
    const rest = text.slice(first.length + 1)
    return new InvalidValue(`${text} is ambiguous: ${first}h${rest}m or ${first}m${rest}s`)
  }
  if (parseTimeSpan(text) !== undefined) {
    return new InvalidValue(`${text} is ${first} days for .NET: write ${first}d or ${first}h`)
  }
  if (ISO_UNCLEAR.test(text)) {
    return new InvalidValue(`${text}: years and months have no fixed length, write days, as in P30D`)
  }
  return new InvalidValue(`"${text}" is not a duration: write ${EXAMPLES}`)
}

/** The meaning of a `timeout` attribute. */
export type Timeout =
  /** Empty or negative: no timeout. */
  | { readonly kind: 'none' }
  /** `asDays`: a number was read as days, as .NET does, though it may be meant otherwise. `ms` 0 is due at once. */
  | { readonly kind: 'after'; readonly ms: number; readonly asDays?: true }
  /** An absolute time, epoch ms. */
  | { readonly kind: 'at'; readonly ms: number }
  /** Never fires; `doctor` reports it. */
  | { readonly kind: 'unreadable' }

/** Cached: streams repeat the same few timeouts. */
const READ = new Map<string, Timeout>()
const MAX_READ = 200

/** Parses a `timeout` attribute: TimeSpan, ISO 8601 duration, ISO date-time, in this order. */
export function parseTimeout(text: string): Timeout {
  const known = READ.get(text)
  if (known !== undefined) return known
  if (READ.size >= MAX_READ) READ.clear()
  const timeout = readTimeout(text)
  READ.set(text, timeout)
  return timeout
}

function readTimeout(text: string): Timeout {
  const trimmed = text.trim()
  if (trimmed === '') return { kind: 'none' }
  const span = parseTimeSpan(trimmed) ?? parseIsoDuration(trimmed)
  if (span !== undefined) return fromSpan(span)
  const ms = isIsoTime(trimmed) ? readTime(trimmed) : undefined
  return ms === undefined ? { kind: 'unreadable' } : { kind: 'at', ms }
}

/**
 * The wire text for a typed timeout: a duration becomes a TimeSpan, a date-time with a zone becomes UTC.
 * @throws InvalidValue for what `parseDuration` refuses, a date-time without zone, and a bare `0`
 */
export function timeoutFromInput(text: string): string {
  const typed = text.trim()
  if (typed === '0') throw new InvalidValue('a timeout of 0 expires at once: write 0s if you mean that')
  if (!isIsoTime(typed)) return formatTimeSpan(parseDuration(typed))
  const ms = readTime(typed)
  if (ms === undefined) throw new InvalidValue(`${typed} is not a date and time that exists`)
  if (!/(?:Z|[+-]\d\d:?\d\d)$/i.test(typed))
    throw new InvalidValue(`${typed} has no time zone: write ${typed}Z for UTC`)
  return isoTime(ms)
}

function fromSpan(span: Span): Timeout {
  if (span.negative) return { kind: 'none' }
  return span.asDays ? { kind: 'after', ms: span.ms, asDays: true } : { kind: 'after', ms: span.ms }
}

/** Whether the text is meant as a time. Old culture dates do not count: no program ever wrote a timeout in that form. */
export function isIsoTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\d[T ]\d/i.test(text)
}

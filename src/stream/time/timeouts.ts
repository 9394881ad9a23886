import { InvalidValue } from '../errors.ts'
import { isoTime, readTime } from './dates.ts'
import { formatTimeSpan, parseDuration, parseIsoDuration, parseTimeSpan, type Span } from './durations.ts'

/** What the text of a `timeout` attribute says. */
export type Timeout =
  /** Empty or negative: no limit. */
  | { readonly kind: 'none' }
  /** `asDays`: a number was read as days, as .NET does; ask what was meant. `ms` 0 is due at once. */
  | { readonly kind: 'after'; readonly ms: number; readonly asDays?: true }
  /** A limit in absolute time, epoch ms. */
  | { readonly kind: 'at'; readonly ms: number }
  /** Never fires; `doctor` reports it. */
  | { readonly kind: 'unreadable' }

/** Streams hold the same few timeouts again and again. */
const READ = new Map<string, Timeout>()
const MAX_READ = 200

/** Reads a `timeout` as every writer of the format means it: TimeSpan, ISO 8601 duration, ISO date-time, in this order. */
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
 * The wire text for a timeout as a person gives it: a duration becomes a TimeSpan, a date-time with its zone UTC.
 * @throws InvalidValue for what `parseDuration` refuses, a date-time without zone, and a bare `0`
 */
export function timeoutFromInput(text: string): string {
  const typed = text.trim()
  if (typed === '0') throw new InvalidValue('a timeout of 0 is due at once: write 0s if that is meant')
  if (!isIsoTime(typed)) return formatTimeSpan(parseDuration(typed))
  const ms = readTime(typed)
  if (ms === undefined) throw new InvalidValue(`${typed} is not a date and time that exists`)
  if (!/(?:Z|[+-]\d\d:?\d\d)$/i.test(typed)) throw new InvalidValue(`${typed} in which zone? ${typed}Z for UTC`)
  return isoTime(ms)
}

function fromSpan(span: Span): Timeout {
  if (span.negative) return { kind: 'none' }
  return span.asDays ? { kind: 'after', ms: span.ms, asDays: true } : { kind: 'after', ms: span.ms }
}

/** Dates of the old cultures do not count here: nobody ever wrote a timeout in them. */
function isIsoTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\d[T ]\d/i.test(text)
}

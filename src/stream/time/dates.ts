import type { StreamDocument } from '../document.ts'

/** Reads a time of one document: epoch ms, `undefined` when missing or unreadable. */
export interface TimeReader {
  (text: string): number | undefined
  /** The clock that deadlines are compared with; without it every time is trusted. */
  readonly clock?: LimitClock
}

/** The clock that deadlines are compared with. Both epoch ms. */
export interface LimitClock {
  readonly nowMs: number
  /** When the document was last written. Every stamp in it is older, so a stamp ahead of now counts as this. */
  readonly writtenMs: number
}

/** The order in texts such as `06/05/2013`: month first, day first, or undecided. */
type DateOrder = '' | 'mdy' | 'dmy'

/** What a date text alone does not say. */
export interface DateContext {
  /** Undecided means month first. */
  readonly dates: DateOrder
  /** The service's clock: a reading more than a day after it is excluded. */
  readonly nowMs?: number
}

const DAY = 86_400_000
const ISO = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|[+-]\d\d:?\d\d)?$/i
const CLOCK = String.raw`\s+(\d{1,2})[:.](\d\d)[:.](\d\d)(?:\s*([ap])\.?\s?m\.?)?`
const YEAR_FIRST = new RegExp(String.raw`^(\d{4})([/.-])(\d{1,2})\2(\d{1,2})${CLOCK}$`, 'i')
const YEAR_LAST = new RegExp(String.raw`^(\d{1,2})([/.-])(\d{1,2})\2(\d{4})${CLOCK}$`, 'i')

/**
 * UTC, milliseconds, `Z`: the one form in which times are written. As `Date` writes it, but several times as fast.
 * @throws RangeError for what is not a time
 */
export function isoTime(ms: number): string {
  const time = Math.trunc(ms)
  const day = Math.floor(time / DAY)
  const text = writtenDays.get(day) ?? writeDay(day)
  // Not a number, or a year that has not four digits.
  if (text.length !== 'yyyy-mm-ddT'.length) return new Date(ms).toISOString()
  const rest = time - day * DAY
  const seconds = Math.floor(rest / 1_000)
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  const thousandths = rest % 1_000
  const tail = `${PAIRS[Math.floor(thousandths / 10)]}${thousandths % 10}Z`
  return `${text}${PAIRS[hours]}:${PAIRS[minutes % 60]}:${PAIRS[seconds % 60]}.${tail}`
}

const PAIRS = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'))

/** Cached: most times of a document, or of a listing, are of a few days. */
const writtenDays = new Map<number, string>()
const MOST_DAYS = 100

function writeDay(day: number): string {
  const text = new Date(day * DAY).toISOString()
  if (writtenDays.size >= MOST_DAYS) writtenDays.clear()
  const start = text.slice(0, text.indexOf('T') + 1)
  writtenDays.set(day, start)
  return start
}

/**
 * Reads a time of a document: ISO 8601, or the output of `DateTime.UtcNow.ToString()` in the writer's culture
 * (stream-format 6). Without a zone it is UTC. Epoch ms; `undefined` for anything else, for dates that do not exist and
 * for times before 1970, which only an unset `DateTime` gives.
 */
export function readTime(text: string, context: DateContext = { dates: '' }): number | undefined {
  const own = ownMs(text)
  if (own !== undefined) return own
  const trimmed = text.trim()
  const iso = ISO.exec(trimmed)
  if (iso !== null) return isoMs(iso)
  const yearFirst = YEAR_FIRST.exec(trimmed)
  if (yearFirst !== null) return cultureMs(yearFirst, 1, 3, 4)
  const { mdy, dmy } = readings(trimmed, context.nowMs)
  return context.dates === 'dmy' ? (dmy ?? mdy) : (mdy ?? dmy)
}

/**
 * The order of the ambiguous dates of one document. Texts with only one reading decide, by majority if they disagree;
 * else the order whose readings are nearest to the blob's Last-Modified, then month first. `''` if no text depends on
 * it.
 */
export function decideDates(
  texts: Iterable<string>,
  clock: { readonly lastModifiedMs?: number | undefined; readonly nowMs: number },
): DateOrder {
  let votes = 0
  const ambiguous: { mdy: number; dmy: number }[] = []
  for (const text of texts) {
    if (!text.includes('/')) continue
    const { mdy, dmy } = readings(text.trim(), clock.nowMs)
    if (mdy === dmy) continue
    if (mdy !== undefined && dmy !== undefined) ambiguous.push({ mdy, dmy })
    else votes += mdy === undefined ? -1 : 1
  }
  if (votes !== 0) return votes > 0 ? 'mdy' : 'dmy'
  return ambiguous.length === 0 ? '' : nearest(ambiguous, clock.lastModifiedMs)
}

function nearest(ambiguous: readonly { mdy: number; dmy: number }[], target: number | undefined): DateOrder {
  if (target === undefined) return 'mdy'
  let mdy = Number.POSITIVE_INFINITY
  let dmy = Number.POSITIVE_INFINITY
  for (const reading of ambiguous) {
    mdy = Math.min(mdy, Math.abs(reading.mdy - target))
    dmy = Math.min(dmy, Math.abs(reading.dmy - target))
  }
  return dmy < mdy ? 'dmy' : 'mdy'
}

/** The readings of a date with the year last. Cultures that write dots or dashes put the day first. */
function readings(text: string, nowMs: number | undefined): { mdy?: number | undefined; dmy?: number | undefined } {
  const match = YEAR_LAST.exec(text)
  if (match === null) return {}
  const mdy = cultureMs(match, 4, 1, 3)
  const dmy = cultureMs(match, 4, 3, 1)
  if (mdy === undefined || dmy === undefined) return { mdy, dmy }
  if (match[2] !== '/') return { dmy }
  const latest = nowMs === undefined ? Number.POSITIVE_INFINITY : nowMs + DAY
  if (mdy > latest && dmy <= latest) return { dmy }
  if (dmy > latest && mdy <= latest) return { mdy }
  return { mdy, dmy }
}

/** @param year @param month @param day the group of the match */
function cultureMs(match: RegExpExecArray, year: number, month: number, day: number): number | undefined {
  const hour = Number(match[5])
  const half = match[8]?.toLowerCase()
  if (half !== undefined && hour > 12) return undefined
  const hours = half === undefined ? hour : (hour % 12) + (half === 'p' ? 12 : 0)
  return utc(
    Number(match[year]),
    Number(match[month]),
    Number(match[day]),
    hours,
    Number(match[6]),
    Number(match[7]),
    0,
  )
}

function isoMs(match: RegExpExecArray): number | undefined {
  const [, year, month, day, hours, minutes, seconds = '0', fraction = '', zone = 'Z'] = match
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'))
  const local = utc(Number(year), Number(month), Number(day), Number(hours), Number(minutes), Number(seconds), ms)
  return local === undefined ? undefined : notBefore1970(local - offsetMs(zone))
}

/** Reads a time in the form of `isoTime` without regular expressions; `undefined` for any other text. */
function ownMs(text: string): number | undefined {
  if (text.length !== OWN_LENGTH || text.charCodeAt(OWN_LENGTH - 1) !== CODE_OF_Z) return undefined
  const dayMs = ownDayMs(text)
  const [hours, minutes] = [pairAt(text, 11), pairAt(text, 14)]
  const [seconds, ms] = [pairAt(text, 17), pairAt(text, 20) * 10 + digitAt(text, 22)]
  const hasMarks =
    text.charCodeAt(10) === CODE_OF_T &&
    text.charCodeAt(13) === CODE_OF_COLON &&
    text.charCodeAt(16) === CODE_OF_COLON &&
    text.charCodeAt(19) === CODE_OF_DOT
  // Comparisons with NaN are false.
  if (dayMs === undefined || !hasMarks || !(hours <= 23 && minutes <= 59 && seconds <= 59 && ms >= 0)) return undefined
  return dayMs + ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms
}

const OWN_LENGTH = '2026-01-31T12:00:00.000Z'.length
const [CODE_OF_T, CODE_OF_Z, CODE_OF_COLON, CODE_OF_DOT, CODE_OF_DASH] = [0x54, 0x5a, 0x3a, 0x2e, 0x2d]

/** Cached: most times of a document are of one day. */
let lastDay: { readonly text: string; readonly ms: number | undefined } = { text: '', ms: undefined }

/** The begin of the day with which a text in our form begins. */
function ownDayMs(text: string): number | undefined {
  if (lastDay.text === '' || !text.startsWith(lastDay.text)) lastDay = { text: text.slice(0, 10), ms: dayMs(text) }
  return lastDay.ms
}

function dayMs(text: string): number | undefined {
  if (text.charCodeAt(4) !== CODE_OF_DASH || text.charCodeAt(7) !== CODE_OF_DASH) return undefined
  return utc(pairAt(text, 0) * 100 + pairAt(text, 2), pairAt(text, 5), pairAt(text, 8), 0, 0, 0, 0)
}

function pairAt(text: string, at: number): number {
  return digitAt(text, at) * 10 + digitAt(text, at + 1)
}

/** NaN for any other character. */
function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - 0x30
  return digit >= 0 && digit <= 9 ? digit : Number.NaN
}

function offsetMs(zone: string): number {
  if (zone.length < 2) return 0
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2))
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000
}

function utc(year: number, month: number, day: number, hours: number, minutes: number, seconds: number, ms: number) {
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined
  if (hours > 23 || minutes > 59 || seconds > 59 || year < 100) return undefined
  return notBefore1970(Date.UTC(year, month - 1, day, hours, minutes, seconds, ms))
}

function notBefore1970(ms: number): number | undefined {
  return ms >= 0 ? ms : undefined
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/**
 * A reader with the date order of this document: `lc:dates`, else decided from its own texts and the blob's
 * Last-Modified. `dates` is the order that the next transaction fixes.
 */
export function timeReaderFor(
  document: StreamDocument,
  clock: { readonly lastModifiedMs?: number | undefined; readonly nowMs: number },
): { readonly read: TimeReader; readonly dates: DateOrder } {
  const dates = document.dates === '' ? decided(document, clock) : document.dates
  const context = { dates, nowMs: clock.nowMs }
  // Cached: one transaction stamps the same text on many events.
  let last = ''
  let lastMs: number | undefined
  const read = (text: string): number | undefined => {
    if (text === last) return lastMs
    last = text
    lastMs = readTime(text, context)
    return lastMs
  }
  const { nowMs, lastModifiedMs = nowMs } = clock
  return { read: Object.assign(read, { clock: { nowMs, writtenMs: Math.min(lastModifiedMs, nowMs) } }), dates }
}

/** Most documents have nothing to decide: only old culture dates have a slash. */
function decided(document: StreamDocument, clock: Parameters<typeof decideDates>[1]): DateOrder {
  const some = document.events.some(({ created, timestamp }) => created.includes('/') || timestamp.includes('/'))
  return some ? decideDates(timesOf(document), clock) : ''
}

function* timesOf(document: StreamDocument): Iterable<string> {
  for (const event of document.events) {
    yield event.created
    yield event.timestamp
  }
}

/** Tolerated difference between the clocks of machines that share a store, ms: a time less far ahead is trusted. */
const TOLERANCE_MS = 5 * 60_000

/**
 * Stamped times go back only by more than this, ms. It is long because a slow clock is as likely as a fast one, and its
 * stamps must not look like missing heartbeats: one clock may be a day fast and the other a day slow. Beyond this, the
 * clock of the last writer was wrong.
 */
export const FAR_MS = 3 * 86_400_000

/** Whether a time is so far ahead of the store's clock that timeouts do not count from it. */
export function isAhead(ms: number | undefined, nowMs: number): boolean {
  return ms !== undefined && ms > nowMs + TOLERANCE_MS
}

/** Whether a time is so far ahead that the next write does not continue from it. */
export function isFarAhead(ms: number | undefined, nowMs: number): boolean {
  return ms !== undefined && ms > nowMs + FAR_MS
}

import { isoTime, readTime } from '../../stream/time/dates.ts'
import { formatTimeSpan, MAX_DURATION_MS } from '../../stream/time/durations.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** What a timeout text may have been meant to say, as it is written right, and in words. */
export interface Meant {
  readonly text: string
  readonly words: string
}

/** For a text that .NET reads as days although hours or minutes are likelier: `24:00:00`, `30:00`, `30`. Likeliest first. */
export function meantByDays(text: string): readonly Meant[] {
  const fields = text.trim().split(':').map(Number)
  const [first = 0, second = 0, third = 0] = fields
  if (fields.length === 3) return [clock(first, second, third)]
  if (fields.length === 2) return [clock(0, first, second), clock(first, second, 0)]
  return [clock(0, first, 0), clock(0, 0, first), clock(first, 0, 0)]
}

/** For a text that nobody can read: `1d`, `5 min`, `1:06:00:00`, `00:90:00`, a date of the old cultures. */
export function meantByUnreadable(text: string): Meant | undefined {
  const typed = text.trim()
  const ms = msOfWords(typed) ?? msOfFields(typed)
  if (ms !== undefined && ms > 0) return ms <= MAX_DURATION_MS ? spanned(ms) : undefined
  const date = /^\d{4}-\d\d-\d\d$/.test(typed) ? readTime(`${typed}T00:00:00Z`) : readTime(typed)
  return date === undefined ? undefined : { text: isoTime(date), words: 'that moment' }
}

function clock(hours: number, minutes: number, seconds: number): Meant {
  return spanned(hours * HOUR + minutes * MINUTE + seconds * SECOND)
}

function spanned(ms: number): Meant {
  const parts = [
    count(Math.floor(ms / DAY), 'day'),
    count(Math.floor((ms % DAY) / HOUR), 'hour'),
    count(Math.floor((ms % HOUR) / MINUTE), 'minute'),
    count((ms % MINUTE) / SECOND, 'second'),
  ]
  return { text: formatTimeSpan(ms), words: parts.filter(part => part !== '').join(' ') }
}

function count(number: number, unit: string): string {
  return number === 0 ? '' : `${number} ${unit}${number === 1 ? '' : 's'}`
}

const UNITS: readonly (readonly [names: RegExp, ms: number])[] = [
  [/^(w|wks?|weeks?)$/i, 7 * DAY],
  [/^(d|days?)$/i, DAY],
  [/^(h|hrs?|hours?)$/i, HOUR],
  [/^(m|mins?|minutes?)$/i, MINUTE],
  [/^(s|secs?|seconds?)$/i, SECOND],
  [/^(ms|msecs?|milliseconds?)$/i, 1],
]

/** `1d`, `5 min`, `1 hour, 30 minutes`. */
function msOfWords(text: string): number | undefined {
  if (!/^(?:\d+(?:[.,]\d+)?\s*[a-z]+[\s,]*)+$/i.test(text)) return undefined
  let sum = 0
  for (const [, number = '', unit = ''] of text.matchAll(/(\d+(?:[.,]\d+)?)\s*([a-z]+)/gi)) {
    const ms = UNITS.find(([names]) => names.test(unit))?.[1]
    if (ms === undefined) return undefined
    sum += Number(number.replace(',', '.')) * ms
  }
  return Math.round(sum)
}

/** `d:hh:mm:ss`, and fields that are too large for their place: `00:90:00`. */
function msOfFields(text: string): number | undefined {
  const match = /^(?:(\d{1,6})[.:])?(\d{1,4}):(\d{1,4}):(\d{1,4})$/.exec(text)
  if (match === null) return undefined
  const [, days = 0, hours, minutes, seconds] = match
  return Number(days) * DAY + Number(hours) * HOUR + Number(minutes) * MINUTE + Number(seconds) * SECOND
}

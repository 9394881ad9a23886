import { isFinal, type StreamEvent } from '../../stream/event.ts'
import { isAhead, isoTime, readTime } from '../../stream/time/dates.ts'
import { formatDuration, formatTimeSpan, MAX_DURATION_MS, parseTimeout } from '../../stream/time/durations.ts'
import { commandWords } from '../../util/strings.ts'
import type { Examined } from './examined-stream.ts'
import { type Finding, idList, quoted } from './finding.ts'

/** Findings about times and timeouts. */
export function* timeFindings(subject: Examined): Generator<Finding> {
  yield* guessedDates(subject)
  yield* timesAhead(subject)
  for (const { event } of subject.counted) {
    yield* unreadableTimes(subject, event)
    if (!isFinal(event)) yield* timeoutFindings(subject, event)
  }
}

function* unreadableTimes({ read }: Examined, event: StreamEvent): Generator<Finding> {
  for (const name of ['created', 'timestamp'] as const) {
    if (event[name] === '' || read(event[name]) !== undefined) continue
    const limited = !isFinal(event) && event.timeout !== ''
    yield {
      severity: limited ? 'warning' : 'info',
      code: 'unreadable-time',
      subject: event.id,
      message: `${name} ${quoted(event[name])} cannot be read as a time${limited ? '; its timeout may never expire' : ''}`,
    }
  }
}

/** Finds times ahead of the store's clock. Final events are ignored. */
function* timesAhead({ document, stored, counted, read, nowMs }: Examined): Generator<Finding> {
  const times = [
    { id: '', what: 'the last write', ms: stored.modifiedMs },
    { id: '', what: 'the last change', ms: read(document.at) },
    ...counted.flatMap(({ event }) => (isFinal(event) ? [] : timesOf(event, read))),
  ]
  const ahead = times.flatMap(({ id, what, ms }) => (isAhead(ms, nowMs) ? [{ id, what, ms: ms ?? 0 }] : []))
  const latest = ahead.toSorted((a, b) => b.ms - a.ms)[0]
  if (latest === undefined) return
  const ids = [...new Set(ahead.map(({ id }) => id).filter(id => id !== ''))]
  yield {
    severity: 'warning',
    code: 'time-ahead',
    subject: '',
    message: `${latest.what}${latest.id === '' ? '' : ` of ${latest.id}`} is ${formatDuration(latest.ms - nowMs)} ahead of the store's clock${ids.length === 0 ? '' : ` (times ahead: ${idList(ids)})`}: a clock was wrong. Timeouts count from the last write of the stream, or from its first observation`,
    hint: 'Correct the clock of the machine that wrote it. The next change resets times that are more than three days ahead.',
  }
}

function timesOf({ id, created, timestamp, lc }: StreamEvent, read: Examined['read']) {
  const touched = { id, what: 'timestamp', ms: read(timestamp) }
  return [touched, { id, what: lc.opened ? 'opened' : 'created', ms: read(lc.opened || created) }]
}

function* timeoutFindings(subject: Examined, event: StreamEvent): Generator<Finding> {
  const timeout = parseTimeout(event.timeout)
  if (timeout.kind === 'unreadable') {
    const meant = meaningOfUnreadable(event.timeout)
    yield {
      severity: 'warning',
      code: 'timeout-unreadable',
      subject: event.id,
      message: `the timeout ${quoted(event.timeout)} cannot be read: it never expires${meant === undefined ? '' : `. ${didYouMean([meant])}`}`,
      ...(meant === undefined
        ? { hint: 'A timeout is written 00:05:00, 1.00:00:00 (a day), PT5M or as a date and time.' }
        : setCommand(subject, event, meant)),
    }
  } else if (timeout.kind === 'after' && timeout.asDays) {
    const [likeliest, ...others] = meaningsOfDays(event.timeout)
    if (likeliest === undefined) return
    yield {
      severity: 'warning',
      code: 'timeout-as-days',
      subject: event.id,
      message: `the timeout ${quoted(event.timeout)} is ${Math.floor(timeout.ms / 86_400_000)} days, as .NET reads it. ${didYouMean([likeliest, ...others])}`,
      ...setCommand(subject, event, likeliest),
    }
  } else if (timeout.kind === 'after' && event.created === '' && event.timestamp === '' && !event.lc.opened) {
    const message = 'it has a timeout, but neither created nor timestamp: the timeout never expires'
    yield { severity: 'warning', code: 'no-times', subject: event.id, message }
  }
}

function didYouMean(meant: readonly Meaning[]): string {
  return `Did you mean ${meant.map(({ text, words }) => `${text} (${words})`).join(' or ')}?`
}

function setCommand({ name }: Examined, { id }: StreamEvent, { text }: Meaning): Pick<Finding, 'command'> {
  return { command: commandWords(['event', 'set'], [name, id], ['--timeout', text]) }
}

/** Day and month of a date text with ambiguous order. */
const DAY_OR_MONTH = /^\s*(\d{1,2})\/(\d{1,2})\/\d{4}/

function* guessedDates({ document, root, read, nowMs }: Examined): Generator<Finding> {
  if (document.dates !== '') return
  let example = ''
  for (const { created, timestamp } of document.events) {
    for (const text of [created, timestamp]) {
      const fields = DAY_OR_MONTH.exec(text)
      if (fields === null || Number(fields[1]) === Number(fields[2])) continue
      const [mdy, dmy] = (['mdy', 'dmy'] as const).map(dates => readTime(text, { dates, nowMs }))
      // A date with only one reading decides for all.
      if (mdy === dmy) return
      example ||= text
    }
  }
  const ms = example === '' ? undefined : read(example)
  if (ms === undefined) return
  yield {
    severity: 'info',
    code: 'guessed-dates',
    subject: root.id,
    message: `dates such as ${quoted(example)} have an ambiguous order of day and month; this one is read as ${new Date(ms).toISOString().slice(0, 10)}`,
    hint: 'The first change of the stream by leasectl fixes that order. Programs should write ISO times.',
  }
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A probable meaning of a timeout text, in the right form and in words. */
interface Meaning {
  readonly text: string
  readonly words: string
}

/** Meanings of a text that .NET reads as days, likeliest first: `24:00:00`, `30:00`, `30`. */
function meaningsOfDays(text: string): readonly Meaning[] {
  const fields = text.trim().split(':').map(Number)
  const [first = 0, second = 0, third = 0] = fields
  if (fields.length === 3) return [clock(first, second, third)]
  if (fields.length === 2) return [clock(0, first, second), clock(first, second, 0)]
  return [clock(0, first, 0), clock(0, 0, first), clock(first, 0, 0)]
}

/** The meaning of an unreadable text: `1d`, `5 min`, `1:06:00:00`, `00:90:00`, a date of the old cultures. */
function meaningOfUnreadable(text: string): Meaning | undefined {
  const typed = text.trim()
  const ms = msOfWords(typed) ?? msOfFields(typed)
  if (ms !== undefined && ms > 0) return ms <= MAX_DURATION_MS ? spanned(ms) : undefined
  const date = /^\d{4}-\d\d-\d\d$/.test(typed) ? readTime(`${typed}T00:00:00Z`) : readTime(typed)
  return date === undefined ? undefined : { text: isoTime(date), words: 'that time' }
}

function clock(hours: number, minutes: number, seconds: number): Meaning {
  return spanned(hours * HOUR + minutes * MINUTE + seconds * SECOND)
}

function spanned(ms: number): Meaning {
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

/** `d:hh:mm:ss`, and fields above their range: `00:90:00`. */
function msOfFields(text: string): number | undefined {
  const match = /^(?:(\d{1,6})[.:])?(\d{1,4}):(\d{1,4}):(\d{1,4})$/.exec(text)
  if (match === null) return undefined
  const [, days = 0, hours, minutes, seconds] = match
  return Number(days) * DAY + Number(hours) * HOUR + Number(minutes) * MINUTE + Number(seconds) * SECOND
}

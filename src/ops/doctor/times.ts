import { isFinal, type StreamEvent } from '../../stream/event.ts'
import { isAhead } from '../../stream/time/clock-ahead.ts'
import { readTime } from '../../stream/time/dates.ts'
import { formatDuration } from '../../stream/time/durations.ts'
import { parseTimeout } from '../../stream/time/timeouts.ts'
import { commandWords } from '../../util/command-words.ts'
import type { Examined } from './examined-stream.ts'
import { type Finding, idList, quoted } from './finding.ts'
import { type Meant, meantByDays, meantByUnreadable } from './timeout-advice.ts'

/** What is wrong with times and time limits. */
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
      message: `${name} ${quoted(event[name])} cannot be read as a time${limited ? '; its timeout may never end' : ''}`,
    }
  }
}

/** Of what has ended nothing counts any more. */
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
    message: `${latest.what}${latest.id === '' ? '' : ` of ${latest.id}`} is ${formatDuration(latest.ms - nowMs)} ahead of the store's clock${ids.length === 0 ? '' : ` (times ahead: ${idList(ids)})`}: a clock was wrong. Limits count from when the stream was last written, or seen`,
    hint: 'Set the clock of the machine that wrote it right. The next change sets to now what is more than three days ahead.',
  }
}

function timesOf({ id, created, timestamp, lc }: StreamEvent, read: Examined['read']) {
  const touched = { id, what: 'timestamp', ms: read(timestamp) }
  return [touched, { id, what: lc.opened ? 'opened' : 'created', ms: read(lc.opened || created) }]
}

function* timeoutFindings(subject: Examined, event: StreamEvent): Generator<Finding> {
  const timeout = parseTimeout(event.timeout)
  if (timeout.kind === 'unreadable') {
    const meant = meantByUnreadable(event.timeout)
    yield {
      severity: 'warning',
      code: 'timeout-unreadable',
      subject: event.id,
      message: `the timeout ${quoted(event.timeout)} cannot be read: it never ends${meant === undefined ? '' : `. ${didYouMean([meant])}`}`,
      ...(meant === undefined
        ? { hint: 'A timeout is written 00:05:00, 1.00:00:00 (a day), PT5M or as a date and time.' }
        : setCommand(subject, event, meant)),
    }
  } else if (timeout.kind === 'after' && timeout.asDays) {
    const [likeliest, ...others] = meantByDays(event.timeout)
    if (likeliest === undefined) return
    yield {
      severity: 'warning',
      code: 'timeout-as-days',
      subject: event.id,
      message: `the timeout ${quoted(event.timeout)} is ${Math.floor(timeout.ms / 86_400_000)} days, as .NET reads it. ${didYouMean([likeliest, ...others])}`,
      ...setCommand(subject, event, likeliest),
    }
  } else if (timeout.kind === 'after' && event.created === '' && event.timestamp === '' && !event.lc.opened) {
    const message = 'it has a timeout, but neither created nor timestamp: the timeout never ends'
    yield { severity: 'warning', code: 'no-times', subject: event.id, message }
  }
}

function didYouMean(meant: readonly Meant[]): string {
  return `Did you mean ${meant.map(({ text, words }) => `${text} (${words})`).join(' or ')}?`
}

function setCommand({ name }: Examined, { id }: StreamEvent, { text }: Meant): Pick<Finding, 'command'> {
  return { command: commandWords(['event', 'set'], [name, id], ['--timeout', text]) }
}

/** Day and month of a date text, where it does not say itself which is which. */
const DAY_OR_MONTH = /^\s*(\d{1,2})\/(\d{1,2})\/\d{4}/

function* guessedDates({ document, root, read, nowMs }: Examined): Generator<Finding> {
  if (document.dates !== '') return
  let example = ''
  for (const { created, timestamp } of document.events) {
    for (const text of [created, timestamp]) {
      const fields = DAY_OR_MONTH.exec(text)
      if (fields === null || Number(fields[1]) === Number(fields[2])) continue
      const [mdy, dmy] = (['mdy', 'dmy'] as const).map(dates => readTime(text, { dates, nowMs }))
      // One that can only be read one way decides for all.
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
    message: `dates such as ${quoted(example)} do not tell day from month; that one is taken for ${new Date(ms).toISOString().slice(0, 10)}`,
    hint: 'The first change of the stream by leasectl keeps to that. Programs should write ISO times.',
  }
}

import { isFinal, type StreamEvent } from '../../stream/event.ts'
import { type Attempt, attemptsByEvent } from '../../stream/journal/attempts.ts'
import { visibleText } from '../../util/visible-text.ts'
import { jsonTimeOf, orNull } from '../json.ts'
import { noPaint, type StatusStyle, styleOf } from '../terminal/style.ts'
import { agoText, type HeaderOptions } from './header.ts'
import { type ShownStream, timeOf } from './view.ts'

/** Attempts listed at most; the rest is counted. */
const MAX_ATTEMPTS = 20

/** The attempts at events that were tried more than once, or are open again; empty without any. */
export function attemptLines(shown: ShownStream, options: HeaderOptions): string[] {
  const lines = allAttemptLines(shown, options)
  if (lines.length === 0) return []
  const more = lines.length - MAX_ATTEMPTS
  const rest = more > 0 ? [`  and ${more} more (-o json lists all)`] : []
  return ['', 'Attempts', ...lines.slice(0, MAX_ATTEMPTS).map(line => `  ${line}`), ...rest]
}

/** The same without a heading, an indentation or a limit. */
export function allAttemptLines(shown: ShownStream, options: HeaderOptions): string[] {
  const attempts = attemptsByEvent(shown.transactions())
  return shown.stream.events.flatMap(event => {
    const own = attempts.get(event.id)?.filter(isOwn) ?? []
    return tellsMore(event, own) ? own.map(attempt => attemptLine(shown, event, attempt, options)) : []
  })
}

/** False for an event that nobody began and that ended with the one above it. */
function isOwn({ started, end }: Attempt): boolean {
  return started !== '' || (end?.message ?? '') !== ''
}

/** Whether the attempts are not all in the row of the event and in the list of failures. */
function tellsMore(event: StreamEvent, [first, second]: readonly Attempt[]): boolean {
  return second !== undefined || (first?.end !== undefined && !isFinal(event))
}

const STYLES: ReadonlyMap<string, StatusStyle> = new Map([
  ['failed', { glyph: '✗', style: 'bad' }],
  ['released', { glyph: '○', style: 'plain' }],
  ['abandoned', { glyph: '!', style: 'warn' }],
])

/** `✗ aborted  01.00 Pay #1, 5m ago by w1: gateway down` */
function attemptLine(shown: ShownStream, event: StreamEvent, attempt: Attempt, options: HeaderOptions): string {
  const { owner, started, end } = attempt
  const outcome = end?.outcome ?? 'running'
  const { glyph, style } = STYLES.get(outcome) ?? styleOf(outcome)
  const status = (options.paint ?? noPaint)(style, `${glyph} ${outcome}`)
  const name = `${visibleText(event.id)} ${visibleText(event.name)} #${attempt.attempt}`
  const when = agoText(shown, timeOf(shown, end?.at ?? started), options)
  const by = end === undefined || end.outcome === 'abandoned' ? owner : end.by
  const whose = owner === '' || owner === by ? '' : ` (owner ${visibleText(owner)})`
  const who = `${by === '' ? '' : ` by ${visibleText(by)}`}${whose}`
  const message = end === undefined || end.message === '' ? '' : `: ${visibleText(end.message)}`
  return `${status}  ${name}${when}${who}${message}`
}

/** The attempts at each event as JSON, by id. */
export function attemptsJson(shown: ShownStream): ReadonlyMap<string, readonly object[]> {
  const attempts = attemptsByEvent(shown.transactions())
  return new Map([...attempts].map(([id, own]) => [id, own.map(attemptJson)]))
}

function attemptJson({ attempt, owner, started, end }: Attempt) {
  return {
    attempt,
    owner: orNull(owner),
    started: jsonTimeOf(started),
    ended: end === undefined ? null : jsonTimeOf(end.at),
    by: orNull(end?.by),
    outcome: end?.outcome ?? null,
    message: orNull(end?.message),
  }
}

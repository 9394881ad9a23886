import type { AwaitedStream } from '../ops/wait.ts'
import { ROOT_ID } from '../stream/event-id.ts'
import { visibleName, visibleText } from '../util/visible-text.ts'
import { jsonTime, orNull } from './json.ts'
import { idsText, statusLook } from './stream/view.ts'
import { dueText, span, type TimeStyle } from './terminal/numbers.ts'
import { noPaint, type Paint } from './terminal/style.ts'

const REASONS: { readonly [State in AwaitedStream['state']]: string | null } = {
  met: null,
  otherwise: 'ended-otherwise',
  removed: 'removed',
  open: 'open',
  missing: 'missing',
  unreadable: 'unreadable',
}

/** The result for a stream in `wait`; fields are only ever added. */
export function waitJson({ name, state, last, event }: AwaitedStream, waitedMs: number) {
  return {
    stream: name,
    met: state === 'met',
    reason: REASONS[state],
    status: orNull(last?.status),
    outcome: orNull(last?.outcome),
    event: event === undefined ? null : { id: event.id, status: orNull(event.status) },
    failedId: orNull(last?.failedId),
    failure: orNull(last?.failure),
    waitingOn: last?.waitingOn ?? [],
    due: jsonTime(last?.dueMs),
    waitedMs: Math.max(0, Math.round(waitedMs)),
  }
}

/** The line for a stream whose wait is over, met or not. */
export function endedLine(stream: AwaitedStream, waitedMs: number, paint: Paint): string {
  const verdict = stream.state === 'met' ? paint('good', 'met'.padEnd(WORD)) : paint('bad', 'not met'.padEnd(WORD))
  return [verdict, visibleName(stream.name), ...stateParts(stream, paint), span(waitedMs), failureText(stream)]
    .filter(part => part !== '')
    .join('  ')
}

const WORD = 7

export interface OpenLineOptions {
  readonly nowMs: number
  readonly time: TimeStyle
  readonly paint: Paint
}

/** State of a stream that is still waited for: what it waits on and when it is due. */
export function openLine(stream: AwaitedStream, { nowMs, time, paint }: OpenLineOptions): string {
  const { last } = stream
  const on = waitsOnText(stream)
  const due = dueText(last?.dueMs, nowMs, time)
  return [
    visibleName(stream.name),
    ...stateParts(stream, paint),
    on === '' ? '' : `waits on ${on}`,
    due === '-' ? '' : due.startsWith('overdue') ? due : `due ${due}`,
    failureText(stream),
  ]
    .filter(part => part !== '')
    .join('  ')
}

const MAX_IDS = 8

/** Ids of the events it waits on, `''` for none. */
export function waitsOnText({ last }: AwaitedStream): string {
  return visibleText(idsText(last?.waitingOn ?? [], MAX_IDS))
}

/** The last failure: `02.00: no answer`. Without a message, a failed root is omitted: its status says the same. */
export function failureText({ last }: AwaitedStream): string {
  if (last === undefined || last.failedId === '' || (last.failure === '' && last.failedId === ROOT_ID)) return ''
  return `${visibleText(last.failedId)}${last.failure === '' ? '' : `: ${visibleText(last.failure)}`}`
}

/** State without colours: `✗ aborted`, `01.00 ✗ aborted, stream ▶ inprocess`, `removed`. */
export function stateText(stream: AwaitedStream): string {
  return stateParts(stream, noPaint).join(', ')
}

function stateParts(stream: AwaitedStream, paint: Paint): string[] {
  const { state, last, event } = stream
  if (state === 'removed') return [paint('warn', 'removed')]
  if (state === 'missing') return [paint('dim', 'does not exist yet')]
  if (state === 'unreadable') return [paint('warn', '? cannot be read')]
  const whole = last === undefined ? '? not started' : statusText(last.status, last.outcome, paint)
  if (event === undefined) return [whole]
  const own = event.status === undefined ? 'missing' : statusText(event.status, '', paint)
  return [`${visibleText(event.id)} ${own}`, ...(state === 'met' ? [] : [`stream ${whole}`])]
}

function statusText(status: string, outcome: string, paint: Paint): string {
  const { glyph, style, word } = statusLook(status, outcome)
  return paint(style, `${glyph} ${word}`)
}

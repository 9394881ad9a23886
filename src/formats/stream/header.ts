import type { StreamEvent } from '../../stream/event.ts'
import { outcomeOf } from '../../stream/summarize.ts'
import { suspensionOf } from '../../stream/suspension.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import { leaseText } from '../lease.ts'
import { clock, counted, dueText, span, type TimeStyle, timeText } from '../terminal/numbers.ts'
import { noPaint, type Paint, styleOf } from '../terminal/style.ts'
import { acknowledgementOf, failures, type ShownStream, soonestDueMs, statusLook, timeOf, waitingOn } from './view.ts'

export interface HeaderOptions {
  readonly time: TimeStyle
  readonly paint?: Paint
  /** Columns of the terminal; without it nothing is cut. */
  readonly width?: number
}

/** Ids named at most where a line lists what a stream waits on. */
const MAX_NAMED = 8

/** Name and version; status, age, waiting, numbers of failed and canceled events; the lease if one is held. */
export function showHeader(shown: ShownStream, options: HeaderOptions): string[] {
  const paint = options.paint ?? noPaint
  const root = shown.stream.root
  const status = root?.status ?? 'not started'
  const { glyph, style, word } = statusLook(status, root?.lc.outcome)
  const parts = [
    paint(style, `${glyph} ${word}${outcomeText(shown)}`),
    root === undefined ? '' : timeText(timeOf(shown, root.created), shown.nowMs, options.time),
    waitingText(waitingOn(shown)),
    dueHeader(shown, options),
    ...failureCounts(shown, paint),
  ]
  const title = `${paint('strong', visibleName(shown.name))}  ${paint('dim', `v${shown.version}`)}`
  return [
    title,
    parts.filter(part => part !== '').join('  '),
    ...suspensionLine(shown, options),
    ...leaseLine(shown),
    ...pastLine(shown, options),
  ]
}

function failureCounts(shown: ShownStream, paint: Paint): string[] {
  const failed = failures(shown)
  return ['aborted', 'canceled'].flatMap(status => {
    const count = failed.filter(event => event.status === status).length
    const { glyph, style } = styleOf(status)
    return count === 0 ? [] : [paint(style, `${glyph} ${count}`)]
  })
}

/** `suspended  5m ago by ana: gateway is down`, or how to end a hold. */
function suspensionLine(shown: ShownStream, options: HeaderOptions): string[] {
  const text = suspendedText(shown, options)
  if (text === undefined) return shown.stream.held ? [`held  ${HELD}`] : []
  return [(options.paint ?? noPaint)('warn', `suspended  ${text}`)]
}

/** Said of a stream whose root has not begun. */
export const HELD = 'it has not begun; resume lets it begin'

/** `5m ago by ana: gateway is down`; `undefined` if the stream is not suspended. */
export function suspendedText(shown: ShownStream, options: HeaderOptions): string | undefined {
  const suspension = suspensionOf(shown.stream)
  if (suspension === undefined) return undefined
  const { at, by, why } = suspension
  const when = agoText(shown, timeOf(shown, at), options).replace(', ', '')
  return `${when}${by === '' ? '' : ` by ${visibleText(by)}`}${why === '' ? '' : `: ${visibleText(why)}`}`
}

/** `, blocked`, `, compensated`: what failures have meant for the stream. */
function outcomeText({ stream }: ShownStream): string {
  const outcome = outcomeOf(stream, false)
  return outcome === '' ? '' : `, ${outcome}`
}

function leaseLine({ lease, nowMs, past }: ShownStream): string[] {
  return lease.state === 'available' || past !== undefined ? [] : [`lease  ${leaseText(lease, nowMs)}`]
}

/** For an earlier version: its time, and the attributes that are shown as of now. */
function pastLine(shown: ShownStream, options: HeaderOptions): string[] {
  const text = pastText(shown, options)
  return text === undefined ? [] : [(options.paint ?? noPaint)('warn', text)]
}

/** Which earlier version is shown; `undefined` for the current one. */
export function pastText({ past, version, nowMs }: ShownStream, options: HeaderOptions): string | undefined {
  if (past === undefined) return undefined
  const at = (ms: number) => clock(ms, past.presentMs, wallClock(options.time))
  const { atMs, adoptedMs } = past
  const when =
    atMs === undefined || atMs === nowMs ? `v${version}, ${at(nowMs)}` : `${at(nowMs)}, v${version} of ${at(atMs)}`
  const adopted = adoptedMs === undefined ? '' : `; its history begins with its adoption, ${at(adoptedMs)}`
  return `as of ${when}; names, texts and limits as they are now${adopted}`
}

/** The time style where an age would not do: `relative` becomes local time. */
export function wallClock(time: TimeStyle): Exclude<TimeStyle, 'relative'> {
  return time === 'relative' ? 'local' : time
}

function dueHeader(shown: ShownStream, options: HeaderOptions): string {
  const due = soonestDueMs(shown)
  if (due === undefined) return ''
  const text = dueText(due, shown.nowMs, options.time)
  return text.startsWith('overdue') ? (options.paint ?? noPaint)('bad', text) : `due ${text}`
}

function waitingText(events: readonly StreamEvent[]): string {
  if (events.length === 0) return ''
  const named = events.slice(0, MAX_NAMED).map(event => visibleText(event.id))
  const more = events.length > MAX_NAMED ? ` +${events.length - MAX_NAMED}` : ''
  return `waits on ${named.join(' ')}${more}`
}

/** Failures listed at most; the rest is counted. */
const MAX_FAILURES = 20

/** The failed events with their messages; empty without failures. */
export function failureLines(shown: ShownStream, options: HeaderOptions, atMost = MAX_FAILURES): string[] {
  const failed = failures(shown)
  if (failed.length === 0) return []
  const paint = options.paint ?? noPaint
  const lines = failed.slice(0, atMost).map(event => {
    const when = agoText(shown, timeOf(shown, event.timestamp), options)
    const { glyph, style } = styleOf(event.status)
    const head = `  ${paint(style, `${glyph} ${event.status}`)}  ${visibleText(event.id)} ${visibleText(event.name)}${when}`
    return `${head}${event.msg === '' ? '' : `: ${visibleText(event.msg)}`}`
  })
  const more = failed.length > atMost ? [`  and ${failed.length - atMost} more (-o json lists all)`] : []
  return ['', 'Failures', ...lines, ...more, ...acknowledgedLine(shown, options)]
}

/** `, 5m ago`; `''` without a time. */
export function agoText(shown: ShownStream, at: number | undefined, { time }: HeaderOptions): string {
  if (at === undefined) return ''
  if (time !== 'relative') return `, ${timeText(at, shown.nowMs, time)}`
  return `, ${span(shown.nowMs - at)} ${shown.past === undefined ? 'ago' : 'before'}`
}

function acknowledgedLine(shown: ShownStream, options: HeaderOptions): string[] {
  const text = acknowledgedText(shown, options)
  return text === undefined ? [] : [`  acknowledged${text}`]
}

/** ` 5m ago by ana: known`: who acknowledged the failures and why, and how many failed since. */
export function acknowledgedText(shown: ShownStream, options: HeaderOptions): string | undefined {
  const ack = acknowledgementOf(shown)
  if (ack === undefined) return undefined
  const ackMs = timeOf(shown, ack.at)
  const since = failures(shown).filter(
    ({ status, timestamp }) => status === 'aborted' && (timeOf(shown, timestamp) ?? 0) > (ackMs ?? 0),
  ).length
  const by = ack.by === '' ? '' : ` by ${visibleText(ack.by)}`
  const why = ack.why === '' ? '' : `: ${visibleText(ack.why)}`
  const text = `${agoText(shown, ackMs, options).replace(',', '')}${by}${why}`
  return since === 0 ? text : `${text}; ${counted(since, 'failure')} since`
}

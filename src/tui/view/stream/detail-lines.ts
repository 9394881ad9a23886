import type { ShownStream } from '../../../formats/stream/view.ts'
import { calmSpan } from '../../../formats/terminal/numbers.ts'
import { cut } from '../../../formats/terminal/width.ts'
import type { SeenTransaction } from '../../../ops/read-stream.ts'
import { attemptOf, fenceOf, isFinal, isSuperseded, nextIds, type StreamEvent } from '../../../stream/event.ts'
import { type Limit, limitOf } from '../../../stream/time/deadlines.ts'
import type { Moment } from '../columns.ts'
import { joined, widthOfSpans } from '../fit.ts'
import type { Span } from '../row.ts'
import { safeText } from '../safe-text.ts'
import { wholeTimeText } from '../times.ts'
import { dueSpan } from '../view-times.ts'
import { claimSpan, statusSpan } from './event-cells.ts'

/** An event in the pane, and how wide that is. */
export interface DetailContext {
  readonly shown: ShownStream
  readonly event: StreamEvent
  readonly transactions: readonly SeenTransaction[]
  readonly moment: Moment
  readonly width: number
}

type Line = readonly Span[]
const GAP = '   '

/** The one line that says most: who works on it, how long still, at which attempt, under which limit. */
export function shortLine(context: DetailContext): Line {
  const { event } = context
  const work = workSpans(context)
  const limit = [named('timeout', event.timeout, context), due(context).slice(0, 2)]
  return joined(event.lc.owner === undefined ? [status(context), ...work, ...limit] : [...work, ...limit], GAP)
}

/** All that is known of it, the most important first; lines without anything to say are left out. */
export function factLines(context: DetailContext): Line[] {
  const { event } = context
  const { lc } = event
  const lines = [
    [status(context), ...workSpans(context)],
    [named('timeout', event.timeout, context), due(context), named('on due', lc.onDue, context)],
    [named('prev', event.prev, context, 4), named('next', nextIds(event).join(' '), context, 2)],
    [moment('created', event.created, context), moment('changed', event.timestamp, context)],
    [moment('opened again', lc.opened, context)],
    [named('topic', event.topic, context), named('key', event.key, context), named('tag', event.tag, context)],
    [named('tracking id', event.trackingId, context, 2), named('ref', event.ref, context, 2)],
    [named('join', lc.join, context), named('outcome', lc.outcome, context), named('failed', lc.failed, context, 2)],
  ]
  return lines.flatMap(parts => flowed(parts, context.width)).filter(line => line.length > 0)
}

/** Side by side, or below each other where they do not fit. */
function flowed(parts: readonly Line[], width: number): readonly Line[] {
  const line = joined(parts, GAP)
  return widthOfSpans(line) <= width ? [line] : parts
}

function status({ shown, event, moment: { time } }: DetailContext): Line {
  const [text, style] = statusSpan(event, { shown, time, columns: ATTEMPT_SHOWN })
  return isSuperseded(event) ? [[`${text} by a retry`, style]] : [[text, style]]
}

/** The attempt stands beside the status already. */
const ATTEMPT_SHOWN = [{ id: 'attempt', title: '', width: 0, align: 'left' }] as const

function workSpans(context: DetailContext): Line[] {
  const { event } = context
  const attempt = attemptOf(event)
  const fence = fenceOf(event)
  const { owner } = event.lc
  return [
    owner === undefined ? [] : [[cut(safeText(owner), Math.max(12, Math.floor(context.width / 3))), 'strong']],
    claim(context),
    attempt > 1 ? label('attempt', String(attempt)) : [],
    fence === undefined ? [] : label('fence', String(fence)),
  ]
}

/** `claim 38s, 22s left`: since when it is held, as far as the journal tells, and how long still. */
function claim({ event, shown, transactions }: DetailContext): Line {
  const [left, style] = claimSpan(event, shown.nowMs)
  if (left === '' || isFinal(event)) return []
  const start = transactions.findLast(({ changes }) => changes.some(({ event: id, owner }) => id === event.id && owner))
  const ms = start === undefined ? Number.NaN : Date.parse(start.at)
  const since = Number.isNaN(ms) ? '' : `${calmSpan(shown.nowMs - ms)}, `
  return [
    ['claim ', 'dim'],
    [`${since}${left}`, style],
  ]
}

const KINDS: { readonly [Kind in Limit['kind']]: string } = {
  stream: 'for the whole stream',
  'never-started': 'unless it is started',
  'no-sign-of-life': 'unless there is a sign of life',
  absolute: '',
}

function due({ shown, event, moment: at }: DetailContext): Line {
  const limit = limitOf(shown.stream, event, shown.time)
  if (limit === undefined) return []
  const [text, style] = dueSpan(limit.dueMs, at)
  const kind = KINDS[limit.kind]
  return [...label('due', text, style), [style === 'bad' || kind === '' ? '' : ` ${kind}`, 'dim']]
}

function moment(name: string, text: string | undefined, { shown, moment: at }: DetailContext): Line {
  if (text === undefined || text === '') return []
  const ms = shown.time(text)
  return label(name, ms === undefined ? `? ${cut(safeText(text), 30)}` : wholeTimeText(ms, at))
}

/** A text of strangers gets its share of the line. */
function named(name: string, text: string | undefined, { width }: DetailContext, share = 4): Line {
  if (text === undefined || text === '') return []
  return label(name, cut(safeText(text), Math.max(12, Math.floor(width / share) - name.length)))
}

function label(name: string, text: string, style: Span[1] = 'plain'): Line {
  return [
    [`${name} `, 'dim'],
    [text, style],
  ]
}

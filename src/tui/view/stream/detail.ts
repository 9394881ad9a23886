import type { ShownStream } from '../../../formats/stream/view.ts'
import { calmSpan } from '../../../formats/terminal/numbers.ts'
import { cut, wrapped } from '../../../formats/terminal/width.ts'
import type { JournalEntry } from '../../../ops/read-stream.ts'
import { attemptOf, fenceOf, isFinal, isSuperseded, nextIds, type StreamEvent } from '../../../stream/event.ts'
import { type Deadline, deadlineOf } from '../../../stream/time/deadlines.ts'
import type { OpenStream } from '../../data/types.ts'
import type { Scene } from '../../state/context.ts'
import { shownOf } from '../../state/shown-stream.ts'
import { type Area, filled, joined, rowOf, ruleRow, type ScreenRow, type StyledText, widthOfSpans } from '../row.ts'
import { safeText } from '../safe-text.ts'
import { dueSpan, type RowTime, wholeTimeText } from '../times.ts'
import { listWindow } from '../window.ts'
import { journalSpans, shortJournalSpans } from './journal.ts'
import { openOf } from './open.ts'
import { claimSpan, statusSpan, type VisibleNode, visibleNodes } from './tree.ts'

/**
 * Details of the event under the cursor, below a rule with its name. In few rows the two most important lines; in many
 * all attributes, its message and the end of its journal.
 */
export function detailRows(scene: Scene, area: Area): ScreenRow[] {
  const open = openOf(scene)
  const item = open && visibleNodes(scene, open, listWindow(scene, 1)).find(({ isCursor }) => isCursor)
  const shown = shownOf(open, scene.nowMs)
  if (open === undefined || item === undefined || shown === undefined) return filled([ruleRow('', area.columns)], area)
  const { event, node } = item
  const title = ruleRow(`${safeText(node.id)} ${safeText(event?.name ?? '')}`.trimEnd(), area.columns)
  if (event === undefined) return filled([title, missingRow(item, open, area.columns)], area)
  const moment = { nowMs: shown.nowMs, time: scene.state.time }
  const transactions = open.transactionsOf(event.id)
  const lines = linesFor({ shown, event, transactions, moment, width: area.columns - 1 }, area.rows - 1)
  return filled([title, ...lines.map(spans => rowOf([[' ', 'plain'], ...spans], area.columns))], area)
}

function missingRow({ node, at }: VisibleNode, { nodes }: OpenStream, width: number): ScreenRow {
  let above = at - 1
  while (above > at - MOST_STEPS && (nodes[above]?.depth ?? 0) >= node.depth) above--
  const parent = nodes[above]
  const by = parent === undefined || parent.depth >= node.depth ? '' : `; next of ${safeText(parent.id)} names it`
  return rowOf([[` no event has this id${by}`, 'warn']], width)
}

/** A parent further up is not searched for. */
const MOST_STEPS = 1_000

type Line = readonly StyledText[]

/** From this many rows on, all details are shown instead of the most important lines. */
const LEAST_FOR_ALL = 4
/** Rows of a message at most. */
const MESSAGE_ROWS = 3

function linesFor(context: DetailContext, rows: number): Line[] {
  if (rows < LEAST_FOR_ALL) return shortLines(context, rows)
  const facts = factLines(context)
  const message = messageLines(context, Math.min(MESSAGE_ROWS, rows - LEAST_FOR_ALL + 1))
  const least = Math.min(2, context.transactions.length)
  const above = [...facts.slice(0, Math.max(1, rows - least - message.length)), ...message]
  return [...above, ...journalLines(context, rows - above.length)]
}

function shortLines(context: DetailContext, rows: number): Line[] {
  const lines = [shortLine(context)]
  if (rows > 2) lines.push(...messageLines(context, 1))
  if (rows > lines.length) lines.push(journalLine(context))
  return lines.slice(0, Math.max(0, rows))
}

function messageLines({ event, width }: DetailContext, most: number): Line[] {
  if (event.msg === '') return []
  return wrapped(`msg ${safeText(event.msg)}`, width, most).map(line => [[line, 'plain']])
}

function journalLines({ transactions, event, moment }: DetailContext, rows: number): Line[] {
  if (rows <= 0) return []
  return transactions.slice(-rows).map(tx => journalSpans(tx, { moment, event: event.id, withOp: true }))
}

const BETWEEN: StyledText = ['     ', 'plain']

/** The latest transactions side by side, as many as fit. */
function journalLine({ transactions, moment, width }: DetailContext): Line {
  let line: StyledText[] = []
  for (const tx of transactions.slice(-8).reverse()) {
    const longer = [...shortJournalSpans(tx, moment), ...(line.length === 0 ? [] : [BETWEEN]), ...line]
    if (line.length > 0 && widthOfSpans(longer) > width) break
    line = longer
  }
  return line
}

/** An event in the pane, and the pane's width. */
interface DetailContext {
  readonly shown: ShownStream
  readonly event: StreamEvent
  readonly transactions: readonly JournalEntry[]
  readonly moment: RowTime
  readonly width: number
}

const GAP = '   '

/** The most important line: owner, claim, attempt, deadline. */
function shortLine(context: DetailContext): Line {
  const { event } = context
  const work = workSpans(context)
  const limit = [named('timeout', event.timeout, context), due(context).slice(0, 2)]
  return joined(event.lc.owner === undefined ? [status(context), ...work, ...limit] : [...work, ...limit], GAP)
}

/** All details, the most important first; empty lines are left out. */
function factLines(context: DetailContext): Line[] {
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

/** Side by side, or below each other if they do not fit. */
function flowed(parts: readonly Line[], width: number): readonly Line[] {
  const line = joined(parts, GAP)
  return widthOfSpans(line) <= width ? [line] : parts
}

function status({ shown, event }: DetailContext): Line {
  const [text, style] = statusSpan(event, { shown, columns: ATTEMPT_SHOWN })
  return isSuperseded(event) ? [[`${text} by a retry`, style]] : [[text, style]]
}

/** Suppresses the attempt in the status: it has its own label. */
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

/** `claim 38s, 22s left`: time held, if the journal has it, and time left. */
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

const KINDS: { readonly [Kind in Deadline['kind']]: string } = {
  stream: 'for the whole stream',
  'never-started': 'unless it is started',
  'no-sign-of-life': 'unless there is a heartbeat',
  absolute: '',
}

function due({ shown, event, moment: at }: DetailContext): Line {
  const limit = deadlineOf(shown.stream, event, shown.time)
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

/** An untrusted text gets a share of the line. */
function named(name: string, text: string | undefined, { width }: DetailContext, share = 4): Line {
  if (text === undefined || text === '') return []
  return label(name, cut(safeText(text), Math.max(12, Math.floor(width / share) - name.length)))
}

function label(name: string, text: string, style: StyledText[1] = 'plain'): Line {
  return [
    [`${name} `, 'dim'],
    [text, style],
  ]
}

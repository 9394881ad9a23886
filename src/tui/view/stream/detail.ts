import { dataSizeText } from '../../../formats/stream/data.ts'
import { type ShownStream, shownStream } from '../../../formats/stream/view.ts'
import { calmSpan } from '../../../formats/terminal/numbers.ts'
import { cut, cutInside, wrapped } from '../../../formats/terminal/width.ts'
import type { JournalEntry, StreamView } from '../../../ops/read-stream.ts'
import { DATA_KINDS } from '../../../stream/data.ts'
import {
  attemptOf,
  fenceOf,
  isFailed,
  isFinal,
  isSuperseded,
  nextIds,
  type StreamEvent,
} from '../../../stream/event.ts'
import { UNDOES_STREAM } from '../../../stream/operations/undo.ts'
import { type Deadline, deadlineOf } from '../../../stream/time/deadlines.ts'
import { everyEvent } from '../../data/every-event.ts'
import type { OpenStream } from '../../data/types.ts'
import type { Scene } from '../../state/context.ts'
import { detailSize, isDetailRead } from '../../state/layout.ts'
import { shownOf } from '../../state/shown-stream.ts'
import type { TextPage } from '../../state/state.ts'
import { linesOfText, type ReadableText, textOfLines } from '../../state/text/text.ts'
import { type Area, filled, joined, rowOf, ruleRow, type ScreenRow, type StyledText, widthOfSpans } from '../row.ts'
import { firstLine, safeText } from '../safe-text.ts'
import { readingRows } from '../text.ts'
import { dueSpan, type RowTime, wholeTimeText } from '../times.ts'
import { listWindow } from '../window.ts'
import { journalSpans, shortJournalSpans } from './journal.ts'
import { groupText } from './label.ts'
import { openOf } from './open.ts'
import { claimSpan, statusSpan } from './tree.ts'
import { type VisibleNode, visibleNodes } from './visible-nodes.ts'
import { allWaits } from './waits.ts'

/**
 * Details of the event under the cursor, below a rule with its name. Without open details the most important lines; in
 * open ones all attributes, its message and the end of its journal.
 */
export function detailRows(scene: Scene, area: Area): ScreenRow[] {
  const found = underCursor(scene)
  if (found === undefined) return filled([ruleRow('', area.columns)], area)
  const { open, item } = found
  const { event, node, group } = item
  if (group !== undefined) {
    const keys = group.isOpen ? 'h folds them' : 'enter shows them'
    const row = rowOf([[` ${keys}; what failed or runs has a row of its own`, 'dim']], area.columns)
    return filled([ruleRow(groupText(group), area.columns), row], area)
  }
  const id = cutInside(safeText(node.id), Math.max(12, area.columns - ROOM_FOR_NAME))
  const title = `${id} ${safeText(event?.name ?? '')}`.trimEnd()
  const context = contextOf(scene, found, area.columns)
  if (context === undefined) {
    return filled([ruleRow(title, area.columns), missingRow(item, open, area.columns)], area)
  }
  const room = { columns: area.columns, rows: area.rows - 1 }
  if (isDetailRead(scene.state)) return readingRows(scene, title, textOfLines(allLines(context)), area)
  const rows = shortLines(context, room.rows).map(spans => rowOf([[' ', 'plain'], ...spans], area.columns))
  return filled([ruleRow(title, area.columns), ...rows], area)
}

/** Columns of the title beside a long id: the ids of deep events differ at their end. */
const ROOM_FOR_NAME = 40

/** All details of the event under the cursor, for the pane. */
export function eventDetail(scene: Scene): ReadableText | undefined {
  const found = underCursor(scene)
  const context = found && contextOf(scene, found, detailSize(scene.state).columns)
  return context && textOfLines(allLines(context))
}

/** All about an event of the open stream, for the whole screen: nothing is cut. */
export function eventPage(scene: Scene, key: string): Pick<TextPage, 'title' | 'text'> | undefined {
  const open = openOf(scene)
  const shown = shownOf(open, scene.nowMs)
  const node = open?.nodes.find(found => found.key === key)
  const event = node && open?.event(node.id)
  if (open === undefined || shown === undefined || event === undefined) return undefined
  const context = contextOf(scene, { open, shown, item: { event } }, Number.POSITIVE_INFINITY)
  const title = safeText(`${event.id} ${event.name} of ${open.name}`)
  return context && { title, text: textOfLines(wholeLines(context)) }
}

/** The same of an event of a stream that is not open, below what is above it. */
export function eventLines({ state, nowMs }: Scene, view: StreamView, id: string): readonly Line[] {
  const event = view.stream.find(id)
  if (event === undefined) return []
  const shown = { ...shownStream(view), nowMs }
  const transactions = view
    .transactions()
    .filter(({ on, changes }) => on === id || changes.some(change => change.event === id))
  const context = { shown, event, transactions, moment: { nowMs, time: state.time }, width: Number.POSITIVE_INFINITY }
  const title: StyledText = [safeText(`${event.id} ${event.name}`), 'strong']
  return [[title], ...wholeLines(context)]
}

function underCursor(scene: Scene) {
  const open = openOf(scene)
  const item = open && visibleNodes(scene, open, listWindow(scene, 1)).find(({ isCursor }) => isCursor)
  const shown = shownOf(open, scene.nowMs)
  return open === undefined || item === undefined || shown === undefined ? undefined : { open, item, shown }
}

function contextOf(
  scene: Scene,
  {
    open,
    item: { event },
    shown,
  }: { readonly open: OpenStream; readonly item: Pick<VisibleNode, 'event'>; readonly shown: ShownStream },
  columns: number,
): DetailContext | undefined {
  if (event === undefined) return undefined
  const moment = { nowMs: shown.nowMs, time: scene.state.time }
  return { shown, event, transactions: open.transactionsOf(event.id), moment, width: columns - 1 }
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

/** Transactions shown at most; `log` has them all. */
const TRANSACTIONS_SHOWN = 50

/** The whole message stands right below the status: nothing else is wanted as much. */
function allLines(context: DetailContext): Line[] {
  const [first = [], ...others] = factLines(context)
  return [
    first,
    ...messageLines(context),
    ...dataLines(context),
    ...others,
    ...journalLines(context, TRANSACTIONS_SHOWN),
  ]
}

/** Each fact has a line of its own. */
function wholeLines(context: DetailContext): Line[] {
  const [first = [], ...others] = facts(context).map(parts => parts.filter(part => part.length > 0))
  const message = messageLines(context)
  const gap: Line[] = message.length === 0 ? [] : [[]]
  const data = wholeDataLines(context)
  const journal = journalLines(context, Number.POSITIVE_INFINITY)
  return [joined(first, GAP), ...gap, ...message, ...gap, ...data, ...others.flat(), [], ...journal]
}

/** What a failed event says is worth more than the end of its journal. */
function shortLines(context: DetailContext, rows: number): Line[] {
  const lines = [shortLine(context)]
  const most = isFailed(context.event) ? rows - 1 : rows - 2
  lines.push(...wrappedMessage(context, Math.max(0, most)))
  if (rows > lines.length) lines.push(journalLine(context))
  return lines.slice(0, Math.max(0, rows))
}

/** The first lines of the message; the last one ends in `…` if more follows. */
function wrappedMessage(context: DetailContext, most: number): Line[] {
  const rows = messageLines(context).flatMap(line => {
    const text = safeText(line.map(([part]) => part).join(''))
    const parts = wrapped(text, context.width, most + 1)
    return (parts.length === 0 ? [''] : parts).map((part): Line => [[part, line[0]?.[1] ?? 'plain']])
  })
  if (rows.length <= most) return rows
  return rows.slice(0, most).map((row, at): Line => {
    const [text = '', style = 'plain'] = row[0] ?? []
    return at < most - 1 ? row : [[cut(`${text.replace(/…$/, '')}…`, context.width), style]]
  })
}

/** The message as it was written, with its lines. */
function messageLines({ event }: DetailContext): Line[] {
  if (event.msg.trim() === '') return []
  const style = event.status === 'aborted' && !isSuperseded(event) ? 'bad' : 'plain'
  return linesOfText(event.msg).map((line, at): Line => [[at === 0 ? `msg ${line}` : line, style]])
}

/** Input and result, each on one line: what it is, and how it begins if it stands in the document. */
function dataLines({ event, width }: DetailContext): Line[] {
  return DATA_KINDS.flatMap(kind => {
    const data = event[kind]
    if (data === undefined) return []
    const begins = data.text ? `: ${safeText(data.text.slice(0, width))}` : ''
    const text = cut(`${safeText(data.type)}, ${dataSizeText(data)}${begins}`, Math.max(1, width - kind.length - 1))
    return [
      [
        [`${kind} `, 'dim'],
        [text, 'plain'],
      ] satisfies Line,
    ]
  })
}

/** Input and result, each with all of the text that stands in the document, in its lines. */
function wholeDataLines({ event }: DetailContext): Line[] {
  return DATA_KINDS.flatMap((kind): Line[] => {
    const data = event[kind]
    if (data === undefined) return []
    const text = data.text ? [...linesOfText(data.text).map((line): Line => [[line, 'plain']]), []] : []
    return [label(kind, `${safeText(data.type)}, ${dataSizeText(data)}`), ...text]
  })
}

function journalLines({ transactions, event, moment }: DetailContext, rows: number): Line[] {
  if (rows <= 0) return []
  // The message stands above: of a reason of several lines that repeats it the first is enough.
  const briefly = (tx: JournalEntry) => (tx.why === event.msg ? { ...tx, why: firstLine(tx.why) } : tx)
  return transactions.slice(-rows).map(tx => journalSpans(briefly(tx), { moment, event: event.id, withOp: true }))
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
  const work = [waits(context), undoes(context), ...workSpans(context)]
  const limit = [named('timeout', event.timeout, context), due(context).slice(0, 2)]
  return joined(
    event.lc.owner === undefined || isFailed(event) ? [status(context), ...work, ...limit] : [...work, ...limit],
    GAP,
  )
}

/** All details in lines of the pane; empty lines are left out. */
function factLines(context: DetailContext): Line[] {
  return facts(context)
    .flatMap(parts => flowed(parts, context.width))
    .filter(line => line.length > 0)
}

/** All details, the most important first; those that belong together are one line if there is room. */
function facts(context: DetailContext): readonly (readonly Line[])[] {
  const { event } = context
  const { lc } = event
  return [
    [status(context), ...workSpans(context)],
    [waits(context), undoes(context)],
    [named('timeout', event.timeout, context), due(context), named('on due', lc.onDue, context)],
    [named('prev', event.prev, context, 4), named('next', nextIds(event).join(' '), context, 2)],
    [moment('created', event.created, context), moment('changed', event.timestamp, context)],
    [moment('opened again', lc.opened, context)],
    [named('topic', event.topic, context), named('key', event.key, context), named('tag', event.tag, context)],
    [named('tracking id', event.trackingId, context, 2), named('ref', event.ref, context, 2)],
    [named('join', lc.join, context), named('outcome', lc.outcome, context), named('failed', lc.failed, context, 2)],
  ]
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
const ATTEMPT_SHOWN = [{ id: 'attempt' }] as const

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

function waits({ event, moment }: DetailContext): Line {
  const [text, style] = allWaits(event, moment)
  return text === '' ? [] : label('gate', text, style)
}

/** What an undo step takes back, or which step has taken this event back. */
function undoes({ event, shown: { stream } }: DetailContext): Line {
  const { undoes: id, unsure } = event.lc
  if (id === UNDOES_STREAM) return label('undoes', 'what the stream did, the last step first')
  if (id !== undefined) {
    const name = stream.find(id)?.name ?? ''
    return label(
      'undoes',
      safeText(`${id} ${name}`.trim() + (unsure === undefined ? '' : ', which may have done nothing')),
    )
  }
  const step = everyEvent(stream).undoSteps.get(event.id)
  if (step === undefined) return []
  return label(step.status === 'completed' ? 'undone by' : 'to be undone by', safeText(`${step.id} ${step.name}`))
}

const KINDS: { readonly [Kind in Deadline['kind']]: string } = {
  stream: 'for the whole stream',
  'never-started': 'unless it is started',
  'no-signal': 'unless the signal comes',
  'no-sign-of-life': 'unless there is a heartbeat',
  absolute: '',
  attempt: 'unless the attempt ends',
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

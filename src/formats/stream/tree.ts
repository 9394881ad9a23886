import { attemptOf, isFinal, isGated, isSuperseded, nextIds, type StreamEvent } from '../../stream/event.ts'
import type { EventStream } from '../../stream/event-stream.ts'
import { waitsFor } from '../../stream/gate.ts'
import { claimEndMs } from '../../stream/time/deadlines.ts'
import { visibleText } from '../../util/visible-text.ts'
import { textFormat } from '../field.ts'
import { waitsForText } from '../gate.ts'
import { clock, span, type TimeStyle, timeText } from '../terminal/numbers.ts'
import { noPaint, styleOf } from '../terminal/style.ts'
import { type Cell, type Column, table } from '../terminal/table.ts'
import { cut } from '../terminal/width.ts'
import { failureLines, type HeaderOptions, showHeader } from './header.ts'
import { eventDueMs, isAbandonedNow, type ShownStream, statusLook, timeOf } from './view.ts'

/** A stream as text: a header, the thread tree, and its failures with their messages. */
export function showTree(shown: ShownStream, options: HeaderOptions): string[] {
  return [
    ...showHeader(shown, options),
    '',
    ...eventTable(shown, threadTree(shown.stream), options),
    ...failureLines(shown, options),
  ]
}

const COLUMNS: readonly Column[] = [
  { title: 'EVENT', give: 1, min: 16 },
  { title: 'STATUS' },
  { title: 'OWNER', give: 3, min: 6 },
  { title: 'AGE', align: 'right' },
  { title: 'DUE' },
  { title: 'MESSAGE', give: 4, min: 7 },
]

/** A table of events: the whole tree or some of its rows. */
export function eventTable(shown: ShownStream, rows: readonly TreeRow[], options: HeaderOptions): string[] {
  const paint = options.paint ?? noPaint
  const withBelow = rows.some(({ below }) => below !== undefined)
  const all = [...eventColumns(options.time), ...(withBelow ? [BELOW] : [])]
  const allCells = rows.map(row => [
    ...eventCells(shown, row, options),
    ...(withBelow ? [visibleText(row.below ?? '')] : []),
  ])
  const withMessage = allCells.some(row => row[MESSAGE_AT] !== '')
  const isShown = (_: unknown, at: number) => withMessage || at !== MESSAGE_AT
  const columns = all.filter(isShown)
  const cells = allCells.map(row => row.filter(isShown))
  return table(columns, cells, { paint, ...(options.width === undefined ? {} : { width: options.width }) })
}

const MESSAGE_AT = COLUMNS.length - 1
const BELOW: Column = { title: 'BELOW', runsOn: true, min: 12 }

/** The columns of `eventCells`. */
export function eventColumns(time: TimeStyle): readonly Column[] {
  if (time === 'relative') return COLUMNS
  return COLUMNS.map(column => (column.title === 'AGE' ? { ...column, title: 'CREATED' } : column))
}

/** Rows without tree lines. */
export function flatRows(events: readonly StreamEvent[]): TreeRow[] {
  return events.map(event => ({ lines: '', depth: 0, id: event.id, event, again: false }))
}

/** Columns of a message on a terminal. */
const MESSAGE_COLUMNS = 40

/** One row of the table of events. @param messageColumns a longer message is cut */
export function eventCells(
  shown: ShownStream,
  row: TreeRow,
  options: HeaderOptions,
  messageColumns = MESSAGE_COLUMNS,
): Cell[] {
  const { event } = row
  const id = visibleText(row.id)
  if (event === undefined) return [`${row.lines}${id}`, rowStatus(row), '-', '-', '-', '']
  if (row.again) return [`${row.lines}${id} ${visibleText(event.name)}`, rowStatus(row), '', '', '', '']
  const due = eventDueMs(shown, event)
  return [
    `${row.lines}${id} ${visibleText(event.name)}`,
    isAbandonedNow(shown, event) ? ABANDONED : waitingCell(shown, event, options.time),
    ownerCell(shown, event, options),
    timeText(timeOf(shown, event.lc.opened ?? event.created), shown.nowMs, options.time),
    due === undefined ? '-' : textFormat(shown.nowMs, options.time).due(due),
    isFinal(event) ? '' : cut(visibleText(event.msg), messageColumns),
  ]
}

/** The status; of a gated event also what it waits for, but for a join, whose branches stand beside it. */
function waitingCell(shown: ShownStream, event: StreamEvent, time: TimeStyle): Cell {
  const cell = statusCell(event)
  const what = waitsFor(event)
  return what === undefined || what.kind === 'branches'
    ? cell
    : { ...cell, text: `${cell.text} ${waitsForText(what, shown.nowMs, time)}` }
}

const ABANDONED: Cell = { text: `${styleOf('abandoned').glyph} abandoned`, style: styleOf('abandoned').style }

/** The owner and when its claim expires or expired; of an earlier version only the owner. */
function ownerCell(shown: ShownStream, event: StreamEvent, { time }: HeaderOptions): Cell {
  if (isFinal(event) || event.lc.owner === undefined) return '-'
  const owner = visibleText(event.lc.owner)
  const until = shown.past === undefined ? claimEndMs(event) : undefined
  if (until === undefined) return owner
  const left = until - shown.nowMs
  if (left > 0)
    return `${owner} (${time === 'relative' ? `${span(left)} left` : `until ${clock(until, shown.nowMs, time)}`})`
  const since = time === 'relative' ? `${span(-left)} ago` : clock(until, shown.nowMs, time)
  return { text: `${owner} (ran out ${since})`, style: 'warn' }
}

/** The status of a row: of its event, unless that is missing or listed above. */
export function rowStatus({ event, again }: TreeRow): StyledCell {
  if (event === undefined) return { text: '? missing', style: 'warn' }
  return again ? { text: '↑ see above', style: 'dim' } : statusCell(event)
}

type StyledCell = Exclude<Cell, string>

/** Glyph, word and colour of an event, with its attempt number. */
export function statusCell(event: StreamEvent): StyledCell {
  const word = isGated(event) ? 'waiting' : event.status
  const { glyph, style, word: shown } = statusLook(word, event.lc.outcome)
  const attempt = attemptOf(event)
  const text = `${glyph} ${shown}${attempt > 1 ? ` #${attempt}` : ''}`
  return { text: isSuperseded(event) ? `${text} (replaced)` : text, style: isSuperseded(event) ? 'dim' : style }
}

/** One row of the thread tree. */
export interface TreeRow {
  /** Tree lines before the id: `│ └─▾ `. */
  readonly lines: string
  readonly depth: number
  readonly id: string
  /** `undefined` for an id that `next` names but no event has. */
  readonly event: StreamEvent | undefined
  /** True when the event is listed above already: a cycle or a second path to it. */
  readonly again: boolean
  /** Counts of the events below, where they are left out. */
  readonly below?: string
}

/** Deeper levels keep this indentation, so that long threads stay readable and the output linear. */
const MAX_INDENT = 20

interface Pending {
  readonly id: string
  readonly event: StreamEvent | undefined
  readonly depth: number
  /** Tree lines of the levels above. */
  readonly above: string
  readonly last: boolean
}

/**
 * The events of a stream as a tree: below each event its successors, first those in `next` in that order, then those
 * whose `prev` names it. Events that no path from the root reaches follow as separate roots. Each event is expanded
 * once. Not recursive: foreign threads may be as long as a document allows.
 */
export function threadTree(stream: EventStream): TreeRow[] {
  const children = childrenOf(stream)
  const rows: TreeRow[] = []
  const listed = new Set<string>()
  for (const root of rootsOf(stream, children)) {
    if (!listed.has(root.id)) grow(root, children, listed, rows)
  }
  return rows
}

function grow(root: StreamEvent, children: Children, listed: Set<string>, rows: TreeRow[]): void {
  const stack: Pending[] = [{ id: root.id, event: root, depth: 0, above: '', last: true }]
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    const again = item.event !== undefined && listed.has(item.id)
    listed.add(item.id)
    const below = again ? [] : [...(children.get(item.id) ?? [])]
    rows.push({ lines: linesOf(item, below.length > 0), depth: item.depth, id: item.id, event: item.event, again })
    const above = item.depth === 0 || item.depth > MAX_INDENT ? item.above : item.above + (item.last ? '  ' : '│ ')
    for (let at = below.length - 1; at >= 0; at--) {
      const child = below[at]
      if (child === undefined) continue
      const [id, event] = child
      stack.push({ id, event, depth: item.depth + 1, above, last: at === below.length - 1 })
    }
  }
}

function linesOf(item: Pending, parent: boolean): string {
  const fold = parent ? '▾ ' : '  '
  if (item.depth === 0) return fold
  return `${item.above}${item.last ? '└─' : '├─'}${fold}`
}

/** The children by the id of their parent, each once however often it is linked. */
type Children = ReadonlyMap<string, ReadonlyMap<string, StreamEvent | undefined>>

function childrenOf(stream: EventStream): Children {
  const children = new Map<string, Map<string, StreamEvent | undefined>>()
  const add = (parent: string, id: string) => {
    const known = children.get(parent)
    if (known === undefined) children.set(parent, new Map([[id, stream.find(id)]]))
    else if (!known.has(id)) known.set(id, stream.find(id))
  }
  for (const event of stream.events) for (const id of nextIds(event)) add(event.id, id)
  for (const event of stream.events) {
    if (event.prev !== '' && stream.find(event.prev) !== undefined) add(event.prev, event.id)
  }
  return children
}

/** The root, then events that no other leads to, then the rest (a cycle apart from the root). */
function rootsOf(stream: EventStream, children: Children): StreamEvent[] {
  const led = new Set<string>()
  for (const below of children.values()) for (const id of below.keys()) led.add(id)
  const [root, ...others] = stream.events
  return root === undefined
    ? []
    : [root, ...others.filter(event => !led.has(event.id)), ...others.filter(event => led.has(event.id))]
}

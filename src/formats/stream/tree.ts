import { attemptOf, isFinal, isSuperseded, isWaitingJoin, type StreamEvent } from '../../stream/event.ts'
import { visibleText } from '../../stream/text.ts'
import { claimEndMs } from '../../stream/time/deadlines.ts'
import { clock, dueText, span, timeText } from '../terminal/numbers.ts'
import { noPaint } from '../terminal/style.ts'
import { type Cell, type Column, table } from '../terminal/table.ts'
import { cut } from '../terminal/width.ts'
import { failureLines, type ShowOptions, showHeader } from './header.ts'
import { lookOf, statusWord } from './status.ts'
import { type TreeRow, threadTree } from './thread-tree.ts'
import { eventDueMs, type ShownStream, timeOf } from './view.ts'

/** A stream for people: a header, the tree of threads, and what failed with its messages. */
export function showTree(shown: ShownStream, options: ShowOptions): string[] {
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

/** A table of events: of the whole tree or of some of its rows. */
export function eventTable(shown: ShownStream, rows: readonly TreeRow[], options: ShowOptions): string[] {
  const paint = options.paint ?? noPaint
  const columns =
    options.time === 'relative'
      ? COLUMNS
      : COLUMNS.map(column => (column.title === 'AGE' ? { ...column, title: 'CREATED' } : column))
  const cells = rows.map(row => eventCells(shown, row, options))
  const withMessage = cells.some(row => row.at(-1) !== '')
  const shownColumns = withMessage ? columns : columns.slice(0, -1)
  return table(shownColumns, cells, { paint, ...(options.width === undefined ? {} : { width: options.width }) })
}

/** Rows without the lines of a tree. */
export function flatRows(events: readonly StreamEvent[]): TreeRow[] {
  return events.map(event => ({ lines: '', depth: 0, id: event.id, event, again: false }))
}

function eventCells(shown: ShownStream, row: TreeRow, options: ShowOptions): Cell[] {
  const { event } = row
  const id = visibleText(row.id)
  if (event === undefined) return [`${row.lines}${id}`, { text: '? missing', style: 'warn' }, '-', '-', '-', '']
  if (row.again)
    return [`${row.lines}${id} ${visibleText(event.name)}`, { text: '↑ see above', style: 'dim' }, '', '', '', '']
  const due = dueText(eventDueMs(shown, event), shown.nowMs, options.time)
  return [
    `${row.lines}${id} ${visibleText(event.name)}`,
    statusCell(event),
    ownerCell(shown, event, options),
    timeText(timeOf(shown, event.lc.opened ?? event.created), shown.nowMs, options.time),
    due.startsWith('overdue') ? { text: due, style: 'bad' } : due,
    isFinal(event) ? '' : cut(visibleText(event.msg), 40),
  ]
}

/** Who works on it, and until when that claim holds or since when it has run out; of an earlier version only who. */
function ownerCell(shown: ShownStream, event: StreamEvent, { time }: ShowOptions): Cell {
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

/** Glyph, word and colour of an event, with the number of its attempt. */
export function statusCell(event: StreamEvent): Cell {
  const word = isWaitingJoin(event) ? 'waiting' : event.status
  const { glyph, style } = lookOf(word)
  const attempt = attemptOf(event)
  const text = `${glyph} ${statusWord(word)}${attempt > 1 ? ` #${attempt}` : ''}`
  return { text: isSuperseded(event) ? `${text} (replaced)` : text, style: isSuperseded(event) ? 'dim' : style }
}

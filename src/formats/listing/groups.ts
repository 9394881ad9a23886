import { type GroupBy, type Groups, type StreamGroup, TIME_OF } from '../../ops/groups.ts'
import { visibleText } from '../../util/visible-text.ts'
import { rowOf, type TableColumn, textFormat } from '../field.ts'
import { jsonTime, orNull } from '../json.ts'
import { statusLook } from '../stream/view.ts'
import { counted, countText, type TimeStyle } from '../terminal/numbers.ts'
import { type Cell, type Column, type TableOptions, table, tableWidths, textOf } from '../terminal/table.ts'
import { stateStyle } from './health.ts'

/** Fields of a groups document besides its items. */
export function groupsHead(by: GroupBy) {
  return { groupBy: by, timeOf: TIME_OF[by] }
}

/** A group as JSON; fields are only ever added. */
export function groupJson(group: StreamGroup, select: readonly string[] | undefined) {
  return {
    group: group.group,
    root: orNull(group.root),
    event: orNull(group.event),
    name: orNull(group.name),
    topic: orNull(group.topic),
    owner: orNull(group.owner),
    state: orNull(group.state),
    count: group.count,
    overdue: group.overdue,
    abandoned: group.abandoned,
    failed: group.failed,
    oldest: jsonTime(group.oldestMs),
    newest: jsonTime(group.newestMs),
    example: group.example,
    exampleContext: orNull(group.context),
    others: group.others ?? false,
    select: select ?? null,
  }
}

/** The fields of a group with those of its document. */
export const GROUP_FIELDS = [
  'groupBy',
  'timeOf',
  'group',
  'root',
  'event',
  'name',
  'topic',
  'owner',
  'state',
  'count',
  'overdue',
  'abandoned',
  'failed',
  'oldest',
  'newest',
  'example',
  'exampleContext',
  'others',
  'select',
] as const

type GroupColumn = TableColumn<StreamGroup>

/** The columns of a table of groups; of several stores with a column for that of the example. */
export function groupColumns(by: GroupBy, groups: readonly StreamGroup[]): readonly GroupColumn[] {
  const isSeveral = groups.some(({ context }) => context !== undefined)
  return isSeveral ? [...COLUMNS[by].slice(0, -1), STORE, EXAMPLE] : COLUMNS[by]
}

/** One row of a table of groups. */
export function groupRow(columns: readonly GroupColumn[], group: StreamGroup, nowMs: number, time: TimeStyle): Cell[] {
  return rowOf(columns, group, textFormat(nowMs, time))
}

const STREAMS: GroupColumn = { title: 'STREAMS', align: 'right', cell: ({ count }) => countText(count) }
const OVERDUE: GroupColumn = { title: 'OVERDUE', align: 'right', cell: ({ overdue }) => countCell(overdue) }
const ABANDONED: GroupColumn = {
  title: 'ABANDONED',
  align: 'right',
  cell: ({ abandoned }) => countCell(abandoned),
}
const FAILED: GroupColumn = { title: 'FAILED', align: 'right', cell: ({ failed }) => countCell(failed) }
const EXAMPLE: GroupColumn = {
  title: 'EXAMPLE',
  give: 1,
  min: 12,
  cut: 'middle',
  cell: ({ example }) => visibleText(example),
}
const STORE: GroupColumn = { title: 'STORE', give: 2, min: 8, cut: 'middle', cell: ({ context }) => context ?? '-' }
const OLDEST: GroupColumn = {
  title: 'OLDEST',
  align: 'right',
  spare: 5,
  cell: ({ oldestMs }, format) => format.past(oldestMs),
}
const NEWEST: GroupColumn = {
  title: 'NEWEST',
  align: 'right',
  spare: 2,
  cell: ({ newestMs }, format) => format.past(newestMs),
}
const ROOT: GroupColumn = {
  title: 'ROOT',
  give: 2,
  min: 8,
  spare: 4,
  cell: ({ root }) => visibleText(root ?? 'several'),
}
const EVENT: GroupColumn = {
  title: 'EVENT',
  give: 2,
  min: 8,
  spare: 3,
  cell: ({ event }) => visibleText(event ?? 'several'),
}

const TOTALS: readonly GroupColumn[] = [STREAMS, OVERDUE, ABANDONED, FAILED, OLDEST, NEWEST, EXAMPLE]

const COLUMNS: { readonly [By in GroupBy]: readonly GroupColumn[] } = {
  status: [{ title: 'STATUS', cell: statusCell }, ...TOTALS],
  state: [{ title: 'STATE', cell: statusCell }, ...TOTALS],
  failure: [
    { title: 'FAILURE', give: 1, min: 16, cell: ({ group }) => visibleText(group) },
    STREAMS,
    ROOT,
    EVENT,
    OLDEST,
    NEWEST,
    EXAMPLE,
  ],
  'waiting-on': [
    { title: 'WAITING ON', give: 3, min: 20, cell: ({ group }) => visibleText(group) },
    STREAMS,
    OVERDUE,
    OLDEST,
    NEWEST,
    EXAMPLE,
  ],
  root: [valueColumn('ROOT'), ...TOTALS],
  topic: [valueColumn('TOPIC'), ...TOTALS],
  owner: [valueColumn('OWNER'), ...TOTALS],
}

/** The last column: flags that select the streams of the group, never cut. */
export const SELECT_COLUMN: Column = { title: 'SELECT', min: 20, runsOn: true }

/**
 * A table of groups with `SELECT_COLUMN` as the last column and the example before it. On a terminal that is too narrow
 * for whole causes and examples, those two are lines of their own below each row: both are there to be copied.
 */
export function groupLines(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  { width, paint }: TableOptions,
): string[] {
  const options = { ...(paint && { paint }), ...(width === undefined ? {} : { width }) }
  if (width === undefined || neededWidth(columns, rows) <= width) return table(columns, rows, options)
  const lines = table(
    columns.slice(0, -2),
    rows.map(row => row.slice(0, -2)),
    options,
  )
  const below = (row: readonly Cell[] = []) =>
    row.slice(-2).map((cell, at) => `  ${(columns.at(at - 2)?.title ?? '').toLowerCase().padEnd(7)}  ${textOf(cell)}`)
  return lines.flatMap((line, at) => (at === 0 ? [line] : [line, ...below(rows[at - 1])]))
}

/** The width that shows the group, its number of streams and its example whole, and the least of `SELECT_COLUMN`. */
function neededWidth(columns: readonly Column[], rows: readonly (readonly Cell[])[]): number {
  const widths = tableWidths(columns, rows)
  const needed = columns.map(({ spare, min = 0, runsOn }, at) => (spare ? 0 : runsOn ? min : (widths[at] ?? 0) + 2))
  return needed.reduce((sum, one) => sum + one, 0)
}

function valueColumn(title: string): GroupColumn {
  return { title, give: 3, min: 12, cell: ({ group }) => visibleText(group) }
}

/** Number of streams in the groups, as a sentence. */
export function groupsText(by: GroupBy, { streams, grouped, unreadable }: Groups['counts']): string {
  const bad = unreadable === 0 || by === 'status' || by === 'state' ? '' : `; ${countText(unreadable)} cannot be read`
  const of = `${countText(grouped)} of ${counted(streams, 'stream')}`
  switch (by) {
    case 'status':
    case 'state':
    case 'root':
    case 'topic':
      return `${counted(streams, 'stream')}${bad}`
    case 'failure':
      return `${of} failed${bad}`
    case 'waiting-on':
      return `${of} ${grouped === 1 ? 'waits' : 'wait'} on something; a stream that waits on several events counts for each${bad}`
    case 'owner':
      return `${of} ${grouped === 1 ? 'is' : 'are'} being worked on; a stream counts for each of its workers${bad}`
    default:
      return by satisfies never
  }
}

function statusCell({ group }: StreamGroup): Cell {
  const [word = ''] = group.split(' ')
  if (group === 'completed (errors)') {
    const look = statusLook('completed', 'errors')
    return { text: `${look.glyph} ${look.word}`, style: look.style }
  }
  const { glyph, style } = stateStyle(word)
  return { text: `${glyph} ${visibleText(group)}`, style: group === word ? style : 'warn' }
}

function countCell(count: number): Cell {
  return count === 0 ? '-' : { text: countText(count), style: 'warn' }
}

import { PANES_COLUMNS, WIDE_COLUMNS } from '../../state/layout.ts'
import type { State } from '../../state/state.ts'

export type TreeColumnId =
  | 'event'
  | 'status'
  | 'owner'
  | 'age'
  | 'due'
  | 'attempt'
  | 'fence'
  | 'topic'
  | 'key'
  | 'tag'
  | 'message'

/** A column of the tree. Its width depends on the screen alone: rows that come and go move nothing. */
export interface TreeColumn {
  readonly id: TreeColumnId
  readonly title: string
  readonly width: number
  readonly align: 'left' | 'right'
}

/** Columns between two columns. */
export const TREE_GAP = 2
/** The cursor in front of all. */
export const CURSOR_COLUMNS = 1
/** Below so many columns a row is a line without columns. */
export const LINE_COLUMNS = 40

/** The columns in so many columns of the screen; together with gaps and cursor they fill them. */
export function treeColumns(columns: number, isWide: boolean, time: State['time']): readonly TreeColumn[] {
  const base = [...baseColumns(columns, time)]
  const least = columns < WIDE_COLUMNS ? LEAST_EVENT : ROOMY_EVENT + TREE_GAP + LEAST_MESSAGE
  for (const column of isWide ? MORE : []) if (eventColumns(columns, [...base, column]) >= least) base.push(column)
  const room = eventColumns(columns, base)
  if (columns < WIDE_COLUMNS) return [eventColumn(room), ...base]
  // What the event does not need goes to its message.
  const part = Math.floor(columns / (isWide ? 4 : 3))
  const event = Math.max(ROOMY_EVENT, Math.min(part, room - TREE_GAP - LEAST_MESSAGE))
  const message = room - event - TREE_GAP
  if (message < LEAST_MESSAGE) return [eventColumn(room), ...base]
  return [eventColumn(event), ...base, { id: 'message', title: 'MESSAGE', width: message, align: 'left' }]
}

const LEAST_EVENT = 22
/** With a message beside it. */
const ROOMY_EVENT = 34
const LEAST_MESSAGE = 10

function eventColumn(width: number): TreeColumn {
  return { id: 'event', title: 'EVENT', width, align: 'left' }
}

function eventColumns(columns: number, others: readonly TreeColumn[]): number {
  return columns - CURSOR_COLUMNS - others.reduce((sum, { width }) => sum + width + TREE_GAP, 0)
}

const MORE: readonly TreeColumn[] = [
  { id: 'attempt', title: 'TRY', width: 3, align: 'right' },
  { id: 'fence', title: 'FENCE', width: 5, align: 'right' },
  { id: 'topic', title: 'TOPIC', width: 10, align: 'left' },
  { id: 'key', title: 'KEY', width: 10, align: 'left' },
  { id: 'tag', title: 'TAG', width: 10, align: 'left' },
]

function baseColumns(columns: number, time: State['time']): readonly TreeColumn[] {
  const isClock = time !== 'relative'
  const isRoomy = columns >= WIDE_COLUMNS
  const status: TreeColumn = { id: 'status', title: 'STATUS', width: isRoomy ? 14 : 13, align: 'left' }
  const due: TreeColumn = { id: 'due', title: 'DUE', width: 11, align: 'right' }
  if (columns < 52) return [status]
  if (columns < PANES_COLUMNS) return [status, due]
  const owner: TreeColumn = { id: 'owner', title: 'OWNER', width: isRoomy ? 20 : 10, align: 'left' }
  return [
    status,
    owner,
    isClock
      ? { id: 'age', title: 'CREATED', width: 9, align: 'right' }
      : { id: 'age', title: 'AGE', width: 7, align: 'right' },
    due,
  ]
}

import type { ListedEvent } from '../../ops/events.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import { type CellFormat, type Field, rowOf, type TableColumn, textFormat } from '../field.ts'
import { waitsForJson, waitsForText } from '../gate.ts'
import { jsonTime, orNull } from '../json.ts'
import { countText, type TimeStyle } from '../terminal/numbers.ts'
import { styleOf } from '../terminal/style.ts'
import type { Cell } from '../terminal/table.ts'

/** An event as JSON; fields are only ever added. */
export function listedEventJson(event: ListedEvent) {
  const { stream, id, name, state, owner, attempt, sinceMs, lastSeenMs, claimEndMs, dueMs, message, waitsFor } = event
  return {
    stream,
    event: orNull(id),
    name: orNull(name),
    state,
    owner: orNull(owner),
    attempt: attempt ?? null,
    since: jsonTime(sinceMs),
    lastSeen: jsonTime(lastSeenMs),
    until: jsonTime(claimEndMs),
    due: jsonTime(dueMs),
    message: orNull(message),
    waitsFor: waitsForJson(waitsFor),
  }
}

/** The fields of an event. */
export const EVENT_FIELDS = [
  'stream',
  'event',
  'name',
  'state',
  'owner',
  'attempt',
  'since',
  'lastSeen',
  'until',
  'due',
  'message',
  'waitsFor',
] as const

type EventColumn = Field<ListedEvent> & TableColumn<ListedEvent>

/** The columns of `events`, with limits and times of workers on request. */
export function eventColumns({
  wide,
  due,
  failed,
  waiting,
}: Record<'wide' | 'due' | 'failed' | 'waiting', boolean>): readonly EventColumn[] {
  return [
    { title: 'STREAM', cut: 'middle', give: 1, min: 12, cell: ({ stream }) => visibleName(stream) },
    {
      title: 'EVENT',
      give: 2,
      min: 8,
      cell: ({ id, name }) => visibleText([id, name].filter(Boolean).join(' ')) || '-',
    },
    { title: 'STATE', cell: stateCell },
    { title: 'WORKER', give: 3, min: 8, cell: ({ owner }) => visibleText(owner) || '-' },
    { title: 'SINCE', align: 'right', cell: ({ sinceMs }, format) => format.past(sinceMs) },
    ...(waiting ? [WAITS_FOR] : []),
    ...(wide ? WIDE : []),
    ...(due || wide ? [DUE] : []),
    ...(failed ? [MESSAGE] : []),
  ]
}

const WIDE: readonly EventColumn[] = [
  { title: 'LAST SEEN', align: 'right', cell: ({ lastSeenMs }, format) => format.past(lastSeenMs) },
  { title: 'CLAIM', align: 'right', cell: claimCell },
  { title: 'TRY', align: 'right', cell: ({ attempt }) => (attempt === undefined ? '-' : countText(attempt)) },
]
const DUE: EventColumn = {
  title: 'DUE',
  cell: ({ dueMs }, format) => (dueMs === undefined ? '-' : format.due(dueMs)),
}
const WAITS_FOR: EventColumn = {
  title: 'WAITS',
  give: 4,
  min: 10,
  cell: ({ waitsFor }, { nowMs, time }) => (waitsFor === undefined ? '-' : waitsForText(waitsFor, nowMs, time)),
}
const MESSAGE: EventColumn = {
  title: 'MESSAGE',
  give: 5,
  min: 10,
  cell: ({ message }, format) => format.text(message) || '-',
}

function stateCell({ state }: ListedEvent): Cell {
  const { glyph, style } = styleOf(state === 'failed' ? 'aborted' : state === 'held' ? 'init' : state)
  return { text: `${glyph} ${state}`, style }
}

/** The rest of a claim, or the time since it ended. */
function claimCell({ claimEndMs }: ListedEvent, { nowMs, time, span, past, age }: CellFormat): Cell {
  if (claimEndMs === undefined) return '-'
  if (claimEndMs <= nowMs) return { text: `ended ${past(claimEndMs)}`, style: 'warn' }
  return time === 'relative' ? `${span(claimEndMs - nowMs)} left` : `until ${age(claimEndMs)}`
}

/** One row of the table. */
export function eventRow(columns: readonly EventColumn[], event: ListedEvent, nowMs: number, time: TimeStyle): Cell[] {
  return rowOf(columns, event, textFormat(nowMs, time))
}

import { isAbandoned } from '../../ops/open-events.ts'
import type { StepLoad } from '../../ops/steps.ts'
import type { ClaimedEvent, WorkerLoad } from '../../ops/workers.ts'
import { type CellFormat, type Field, rowOf, type TableColumn, textFormat } from '../field.ts'
import { jsonTime, orNull } from '../json.ts'
import { countText, type TimeStyle } from '../terminal/numbers.ts'
import { type Cell, type TableOptions, table } from '../terminal/table.ts'
import { claimJson } from './json.ts'

/** A worker as JSON; fields are only ever added. */
export function workerJson(load: WorkerLoad) {
  return { owner: orNull(load.owner), ...loadJson(load), others: load.owner === undefined }
}

/** A step as JSON; fields are only ever added. */
export function stepLoadJson(load: StepLoad) {
  return {
    step: load.step ?? null,
    ready: load.ready,
    readySince: jsonTime(load.readySinceMs),
    ...loadJson(load),
    others: load.step === undefined,
  }
}

/** A claimed event as JSON; fields are only ever added. */
export function claimedJson({ stream, claim }: ClaimedEvent, nowMs: number) {
  return { stream, event: claim.id, ...claimJson(claim, nowMs) }
}

/** The fields of workers, steps and events together; each has some of them. */
export const WORKER_LINE_FIELDS = [
  'record',
  'owner',
  'step',
  'stream',
  'event',
  'name',
  'ready',
  'readySince',
  'running',
  'abandoned',
  'streams',
  'since',
  'lastSeen',
  'until',
  'attempt',
  'others',
] as const

function loadJson({ running, abandoned, streams, sinceMs, lastSeenMs, attempt }: WorkerLoad | StepLoad) {
  return { running, abandoned, streams, since: jsonTime(sinceMs), lastSeen: jsonTime(lastSeenMs), attempt }
}

/** Tables of workers, of steps, and of events. */
export interface WorkerTables {
  readonly workers: readonly WorkerLoad[]
  readonly steps: readonly StepLoad[]
  readonly events: readonly ClaimedEvent[]
}

/** The tables with at least one row, an empty line between two. */
export function workerTables(
  { workers, steps, events }: WorkerTables,
  nowMs: number,
  time: TimeStyle,
  options: TableOptions,
): string[] {
  const format = textFormat(nowMs, time)
  const tables = [
    tableOf(WORKER_COLUMNS, workers, format, options),
    tableOf(STEP_COLUMNS, steps, format, options),
    tableOf(EVENT_COLUMNS, events, format, options),
  ].filter(lines => lines.length > 0)
  return tables.flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]))
}

function tableOf<Item>(
  columns: readonly TableColumn<Item>[],
  items: readonly Item[],
  format: CellFormat,
  options: TableOptions,
): string[] {
  if (items.length === 0) return []
  return table(
    columns,
    items.map(item => rowOf(columns, item, format)),
    options,
  )
}

type LoadColumn = TableColumn<WorkerLoad | StepLoad>

const RUNNING: LoadColumn = { title: 'RUNNING', align: 'right', cell: ({ running }) => countText(running) }
const ABANDONED: LoadColumn = {
  title: 'ABANDONED',
  align: 'right',
  cell: ({ abandoned }) => (abandoned === 0 ? '-' : { text: countText(abandoned), style: 'warn' }),
}
const STREAMS: LoadColumn = { title: 'STREAMS', align: 'right', spare: 1, cell: ({ streams }) => countText(streams) }
const LOAD: readonly LoadColumn[] = [
  RUNNING,
  ABANDONED,
  STREAMS,
  { title: 'SINCE', align: 'right', cell: ({ sinceMs }, format) => format.past(sinceMs) },
  { title: 'LAST SEEN', align: 'right', cell: ({ lastSeenMs }, format) => format.past(lastSeenMs) },
  { title: 'TRY', align: 'right', cell: ({ attempt }) => (attempt === 0 ? '-' : countText(attempt)) },
]

const WORKER_COLUMNS: readonly TableColumn<WorkerLoad>[] = [
  { title: 'WORKER', cut: 'middle', give: 1, min: 12, cell: ({ owner }, format) => ownerCell(owner, format) },
  ...LOAD,
]

/** The fields of a step's queue, in text output and on the dashboard. */
export const STEP_FIELDS = {
  step: { title: 'STEP', cell: ({ step }, format) => nameCell(step, 'no name', format) },
  ready: { title: 'READY', align: 'right', cell: ({ ready }) => countText(ready) },
  oldest: { title: 'OLDEST', align: 'right', cell: ({ readySinceMs }, format) => format.past(readySinceMs) },
  running: RUNNING,
  abandoned: ABANDONED,
} satisfies { readonly [name: string]: Field<StepLoad> }

const STEP_COLUMNS: readonly TableColumn<StepLoad>[] = [
  { ...STEP_FIELDS.step, give: 1, min: 12 },
  STEP_FIELDS.ready,
  { ...STEP_FIELDS.oldest, spare: 2 },
  ...LOAD,
]

/** The fields of a claimed event, in text output and on the dashboard. */
export const CLAIM_FIELDS = {
  stream: { title: 'STREAM', cut: 'middle', cell: ({ stream }, format) => format.name(stream) },
  event: { title: 'EVENT', cell: ({ claim: { id, name } }, format) => format.text(`${id} ${name}`) },
  worker: { title: 'WORKER', cell: ({ claim }, format) => ownerCell(claim.owner, format) },
  since: { title: 'SINCE', align: 'right', cell: ({ claim }, format) => format.past(claim.sinceMs) },
  lastSeen: { title: 'LAST SEEN', align: 'right', cell: ({ claim }, format) => format.past(claim.lastSeenMs) },
  claim: { title: 'CLAIM', align: 'right', cell: ({ claim }, format) => claimCell(claim, format) },
  attempt: { title: 'TRY', align: 'right', cell: ({ claim }) => countText(claim.attempt) },
} satisfies { readonly [name: string]: Field<ClaimedEvent> }

const EVENT_COLUMNS: readonly TableColumn<ClaimedEvent>[] = [
  { ...CLAIM_FIELDS.stream, give: 1, min: 12 },
  { ...CLAIM_FIELDS.event, give: 2, min: 8 },
  { ...CLAIM_FIELDS.worker, give: 3, min: 8 },
  CLAIM_FIELDS.since,
  CLAIM_FIELDS.lastSeen,
  CLAIM_FIELDS.claim,
  CLAIM_FIELDS.attempt,
]

/** The rest of a claim, or the time since it ended. */
function claimCell(claim: ClaimedEvent['claim'], { nowMs, time, span, past, age }: CellFormat): Cell {
  const { claimEndMs } = claim
  if (claimEndMs === undefined) return '-'
  if (isAbandoned(claim, nowMs)) return { text: `abandoned ${past(claimEndMs)}`, style: 'warn' }
  return time === 'relative' ? `${span(claimEndMs - nowMs)} left` : `until ${age(claimEndMs)}`
}

/** The name of a worker. */
export function ownerCell(owner: string | undefined, format: CellFormat): Cell {
  return nameCell(owner, 'no owner', format)
}

function nameCell(name: string | undefined, empty: string, format: CellFormat): Cell {
  if (name === undefined) return { text: 'others', style: 'dim' }
  return name === '' ? { text: empty, style: 'dim' } : format.text(name)
}

import { isAcknowledged } from '../../ops/filter.ts'
import { gatedEvents, isAbandoned, openEvents, runningClaims } from '../../ops/open-events.ts'
import type { SummarizedStream } from '../../ops/summaries.ts'
import { isFinal } from '../../stream/event.ts'
import { isHeld } from '../../stream/lease.ts'
import { isSuspended, stateOfStream } from '../../stream/state.ts'
import { cutCount, type Summary } from '../../stream/summary.ts'
import { type CellFormat, type Field, rowOf, type TableColumn, textFormat } from '../field.ts'
import { waitsForText } from '../gate.ts'
import { faultText, statusLook } from '../stream/view.ts'
import type { TimeStyle } from '../terminal/numbers.ts'
import type { Cell, Column } from '../terminal/table.ts'
import { shortId } from '../terminal/width.ts'
import type { ListingChoice, ListingField } from './fields.ts'
import { stateStyle, streamStateOf } from './health.ts'

/** A stream of a listing. */
export interface ListedItem {
  readonly item: SummarizedStream
  /** False while its document has not been read yet. */
  readonly isRead?: boolean
}

/** A column of the table of streams. */
export type ListingColumn = TableColumn<ListedItem>

/** The columns of `ls`. */
export function usualColumns(time: TimeStyle): ListingColumn[] {
  const fields = ['name', 'status', 'waitingOrFault', 'due', 'age', 'events', 'lease'] as const
  return fieldColumns(fields, time).map((column, at) => ({ ...column, ...spareOf(fields[at]) }))
}

/** Which of the usual columns a narrow terminal drops first. */
const SPARE: { readonly [Name in FieldName]?: number } = { age: 6, lease: 5, events: 4, due: 3, waitingOrFault: 2 }

function spareOf(field: FieldName | undefined): Pick<Column, 'spare'> {
  const spare = field && SPARE[field]
  return spare === undefined ? {} : { spare }
}

/** Columns beside the usual ones: a narrow terminal drops these first. */
export function lesserColumns(fields: readonly FieldName[], time: TimeStyle): ListingColumn[] {
  return fieldColumns(fields, time).map((column, at) => ({ ...column, spare: 10 + at }))
}

/** The columns of `ls -o wide`. */
export function wideColumns(time: TimeStyle): ListingColumn[] {
  return [
    ...usualColumns(time),
    ...lesserColumns(
      [
        ...(['state', 'suspended', 'running', 'version', 'root', 'key', 'topic', 'tag', 'trackingId'] as const),
        ...(['readySince', 'modified', 'lastBy', 'lastFailure'] as const),
      ],
      time,
    ),
  ]
}

/** The columns of `ls --fields`. */
export function fieldColumns(fields: readonly (ListingChoice | FieldName)[], time: TimeStyle): ListingColumn[] {
  return fields
    .map(field => (field === 'age' && time !== 'relative' ? 'created' : field))
    .map(field => ({ ...STREAM_FIELDS[field], ...LAYOUT[field] }))
}

/** One row of the table. */
export function listingRow(
  columns: readonly ListingColumn[],
  item: SummarizedStream,
  nowMs: number,
  time: TimeStyle,
): Cell[] {
  return rowOf(columns, { item }, textFormat(nowMs, time))
}

/** Events named in the WAITING ON and RUNNING columns. */
const MAX_EVENTS = 3

type StreamField = Field<ListedItem>
type FieldName = ListingField | 'age' | 'events' | 'waitingOrFault' | 'lastFailure'

/** The fields of a stream, in text output and on the dashboard: one for each JSON field, and some of their own. */
export const STREAM_FIELDS: { readonly [Name in FieldName]: StreamField } = {
  name: { title: 'NAME', cut: 'middle', cell: ({ item }, format) => format.name(item.listed.name) },
  status: { title: 'STATUS', cell: statusCell },
  state: {
    title: 'STATE',
    cell: (item, format) => known(item, summary => stateCell(summary, format)),
  },
  suspended: {
    title: 'SUSPENDED',
    cell: (item, format) => known(item, summary => suspendedCell(summary, format)),
  },
  version: count('VERSION', summary => summary.version),
  root: text('ROOT', summary => summary.root),
  created: time('CREATED', ({ summary }) => summary?.createdMs),
  key: text('KEY', summary => summary.key),
  topic: text('TOPIC', summary => summary.topic),
  tag: text('TAG', summary => summary.tag),
  trackingId: text('TRACKING ID', summary => summary.trackingId),
  outcome: text('OUTCOME', summary => summary.outcome),
  open: count('OPEN', summary => summary.open),
  done: count('DONE', summary => summary.done),
  failed: count('FAILED', summary => summary.failed),
  canceled: count('CANCELED', summary => summary.canceled),
  total: count('TOTAL', summary => summary.total),
  due: {
    title: 'DUE',
    cell: (item, format) => known(item, ({ dueMs }) => (dueMs === undefined ? '-' : format.due(dueMs))),
  },
  waitingOn: { title: 'WAITING ON', cell: (item, format) => known(item, summary => waitingCell(summary, format)) },
  readySince: time('READY SINCE', ({ summary }) => summary?.readySinceMs),
  abandoned: {
    title: 'ABANDONED',
    cell: (item, format) => known(item, summary => (isAbandoned(summary, format.nowMs) ? YES : '-')),
  },
  running: { title: 'RUNNING', cell: (item, format) => known(item, summary => runningCell(summary, format)) },
  failedAt: time('FAILED AT', ({ summary }) => summary?.failedAtMs),
  failedId: text('FAILED EVENT', summary => summary.failedId),
  failedName: text('FAILED NAME', summary => summary.failedName),
  failure: text('FAILURE', summary => summary.failure),
  acknowledged: text('ACKNOWLEDGED', summary => (summary.failed > 0 && isAcknowledged(summary) ? 'yes' : '')),
  lastBy: text('BY', summary => summary.lastBy),
  lease: { title: 'LEASE', cell: leaseCell },
  modified: time('CHANGED', ({ listed }) => listed.modifiedMs),
  error: { title: 'ERROR', cell: (item, format) => faultCell(item, format) ?? '-' },
  age: {
    title: 'AGE',
    align: 'right',
    cell: (item, format) => known(item, ({ createdMs }) => format.age(createdMs)),
  },
  /** Completed, open, failed, canceled, by the glyphs of these statuses: their sum is all events that count. */
  events: { title: '✓/○/✗/⊘', align: 'right', cell: item => known(item, eventsCell) },
  /** Unreadable streams show the reason instead of what they wait on. */
  wakes: time('WAKES', ({ summary }) => summary?.wakeMs),
  waiting: { title: 'WAITING', cell: (item, format) => known(item, summary => gatedCell(summary, format)) },
  waitingOrFault: {
    title: 'WAITING ON',
    cell: (item, format) => faultCell(item, format) ?? STREAM_FIELDS.waitingOn.cell(item, format),
  },
  lastFailure: text('LAST FAILURE', ({ failedId, failure }) =>
    [failedId, failure].filter(part => part !== '').join(' '),
  ),
}

type Layout = Pick<Column, 'give' | 'min'>
const TEXT: Layout = { give: 4, min: 10 }
const LAYOUT: { readonly [Name in FieldName]?: Layout } = {
  name: { give: 1, min: 12 },
  root: TEXT,
  key: TEXT,
  topic: TEXT,
  tag: TEXT,
  trackingId: TEXT,
  outcome: TEXT,
  waitingOn: { give: 3, min: 10 },
  waitingOrFault: { give: 3, min: 10 },
  failedId: TEXT,
  failedName: TEXT,
  suspended: TEXT,
  running: { give: 3, min: 10 },
  waiting: { give: 3, min: 10 },
  failure: { give: 5, min: 10 },
  lastFailure: { give: 5, min: 10 },
  lastBy: TEXT,
  lease: { give: 2, min: 6 },
  error: { give: 5, min: 10 },
}

function text(title: string, read: (summary: Summary) => string): StreamField {
  return { title, cell: (item, format) => known(item, summary => format.text(read(summary)) || '-') }
}

function count(title: string, read: (summary: Summary) => number): StreamField {
  return { title, align: 'right', cell: item => known(item, summary => String(read(summary))) }
}

function time(title: string, read: (item: SummarizedStream) => number | undefined): StreamField {
  const cell: StreamField['cell'] = (row, format) => {
    const ms = read(row.item)
    return ms === undefined ? known(row, () => '-') : format.past(ms)
  }
  return { title, cell }
}

/** A value of the summary, possibly outdated while a newer one is read; `…` before the first, `?` if unreadable. */
function known({ item: { summary, fault }, isRead }: ListedItem, read: (summary: Summary) => Cell): Cell {
  if (summary !== undefined) return read(summary)
  if (isRead === false) return { text: '…', style: 'dim' }
  return fault === undefined ? '-' : '?'
}

/** A glyph and a word: what is wrong with an open stream, else its status. `…` while unknown, the error code if unreadable. */
export function statusCell({ item, isRead }: ListedItem, format: CellFormat): Cell {
  const { summary, fault } = item
  if (summary === undefined && isRead === false) return { text: '…', style: 'dim' }
  if (summary === undefined) return { text: format.text(`? ${fault?.code ?? 'not started'}`), style: 'warn' }
  const { status, outcome } = summary
  const isOver = isFinal(summary)
  const state = isOver ? status : streamStateOf(summary, format.nowMs)
  const { glyph, style, word } = isOver ? statusLook(status, outcome) : stateStyle(state)
  const more = outcome === '' || outcome === 'errors' || outcome === state ? '' : `, ${outcome}`
  return { text: `${glyph} ${format.text(word)}${more}`, style: more === '' ? style : 'warn' }
}

/** Glyph and word of the state. */
function stateCell(summary: Summary, format: CellFormat): Cell {
  const { glyph, style, word } = stateStyle(stateOfStream(summary, format.nowMs))
  return { text: `${glyph} ${format.text(word)}`, style }
}

/** `gateway is down (ana, 5m ago)` */
function suspendedCell(summary: Summary, { text, past }: CellFormat): Cell {
  if (!isSuspended(summary)) return '-'
  const { suspendedMs, suspendedBy, suspendedWhy } = summary
  const who = [suspendedBy, past(suspendedMs)].filter(part => part !== '').join(', ')
  return { text: text(suspendedWhy === '' ? who : `${suspendedWhy} (${who})`), style: 'warn' }
}

/** `01.00 Pay pay@aks-9 (40s left)`: what workers have in hand. */
function runningCell({ running }: Summary, { nowMs, text, span }: CellFormat): Cell {
  const claims = runningClaims({ running }).map(({ id, name, owner, claimEndMs }) => {
    const what = [id, name, owner].filter(part => part !== '').join(' ')
    if (claimEndMs === undefined) return what
    return claimEndMs > nowMs
      ? `${what} (${span(claimEndMs - nowMs)} left)`
      : `${what} (ended ${span(nowMs - claimEndMs)})`
  })
  return text(listText(claims, cutCount(running.at(-1)))) || '-'
}

const YES: Cell = { text: 'yes', style: 'warn' }

function eventsCell({ total, open, done, failed }: Summary): Cell {
  const text = `${done}/${open}/${failed}/${total - open - done - failed}`
  return failed > 0 ? { text, style: 'bad' } : text
}

/** `01.00 Search, 02.00 Pay abandoned (pay@aks-9, 40m)`, abandoned events first; ids alone where names are not known. */
function waitingCell(summary: Summary, { nowMs, text, span }: CellFormat): Cell {
  if (summary.waitingOn.length === 0) return '-'
  const cut = cutCount(summary.waitingOn.at(-1))
  const ids = cut === 0 ? summary.waitingOn : summary.waitingOn.slice(0, -1)
  const open = openEvents(summary, nowMs)
  const gated = gatedEvents(summary)
  const silent = open.filter(({ id, state }) => state === 'abandoned' && ids.includes(id)).map(({ id }) => id)
  const sorted = silent.length === 0 ? ids : [...silent, ...ids.filter(id => !silent.includes(id))]
  const texts = sorted.slice(0, MAX_EVENTS).map(id => {
    const closed = gated.find(event => event.id === id)
    if (closed !== undefined) return `${shortId(id)} ${closed.name} ${waitsForText(closed.waitsFor, nowMs, 'relative')}`
    const { name = '', state, claim } = open.find(event => event.id === id) ?? {}
    const what = `${shortId(id)} ${name}`.trimEnd()
    if (state !== 'abandoned' || claim === undefined) return what
    return `${what} abandoned (${claim.owner}, ${span(nowMs - (claim.claimEndMs ?? nowMs))})`
  })
  const listed = text(listText(texts, sorted.length - texts.length + cut)) || '-'
  return silent.length > 0 ? { text: listed, style: 'warn' } : listed
}

/** `01.01 Remind until 14:02 (in 3h)` for each event with a closed gate. */
function gatedCell(summary: Summary, { nowMs, text }: CellFormat): Cell {
  const texts = gatedEvents(summary).map(
    ({ id, name, waitsFor }) => `${id} ${name} ${waitsForText(waitsFor, nowMs, 'relative')}`,
  )
  return text(listText(texts, cutCount(summary.gated.at(-1)))) || '-'
}

/** The first texts and the number of the others. */
function listText(texts: readonly string[], cut: number): string {
  const more = Math.max(0, texts.length - MAX_EVENTS) + cut
  return `${texts.slice(0, MAX_EVENTS).join(', ')}${more > 0 ? ` +${more}` : ''}`
}

function faultCell({ item }: ListedItem, format: CellFormat): Cell | undefined {
  const text = faultText(item)
  return text === undefined ? undefined : { text: format.text(text), style: 'warn' }
}

/** The holder of the lease. Azure only reports that it is held. */
function leaseCell({ item: { listed } }: ListedItem, format: CellFormat): Cell {
  const { lease } = listed
  if (!isHeld(lease)) return '-'
  return { text: lease.holder === undefined ? lease.state : format.text(lease.holder.by), style: 'warn' }
}

import type { SummarizedStream } from '../../ops/summaries.ts'
import type { StreamRow } from '../../store/store.ts'
import { isHeld } from '../../stream/lease.ts'
import type { Summary } from '../../stream/summary.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import { faultText, idsText, statusWord, styleOf } from '../stream/view.ts'
import { dueText, span, type TimeStyle, timeText } from '../terminal/numbers.ts'
import type { Cell, Column } from '../terminal/table.ts'
import type { ListingChoice, ListingField } from './fields.ts'

/** A column of the table of streams. */
export interface ListingColumn extends Column {
  cell(item: SummarizedStream, nowMs: number, time: TimeStyle): Cell
}

/** The columns of `ls`. */
export function usualColumns(time: TimeStyle): ListingColumn[] {
  return [COLUMNS.name, COLUMNS.status, WAITING_OR_FAULT, COLUMNS.due, ageColumn(time), EVENTS, COLUMNS.lease]
}

/** The columns of `ls -o wide`. */
export function wideColumns(time: TimeStyle): ListingColumn[] {
  const { version, root, key, topic, tag, trackingId, modified, lastBy } = COLUMNS
  return [...usualColumns(time), version, root, key, topic, tag, trackingId, modified, lastBy, FAILURE]
}

/** The columns of `ls --fields`. */
export function fieldColumns(fields: readonly ListingChoice[], time: TimeStyle): ListingColumn[] {
  return fields.map(field => (field === 'age' ? ageColumn(time) : COLUMNS[field]))
}

function ageColumn(time: TimeStyle): ListingColumn {
  return time === 'relative' ? AGE : COLUMNS.created
}

/** One row of the table. */
export function listingRow(
  columns: readonly ListingColumn[],
  item: SummarizedStream,
  nowMs: number,
  time: TimeStyle,
): Cell[] {
  return columns.map(column => column.cell(item, nowMs, time))
}

/** Ids named in the WAITING ON column. */
const MAX_IDS = 3

/** One column for each JSON field. */
const COLUMNS: { readonly [Field in ListingField]: ListingColumn } = {
  name: { title: 'NAME', give: 1, min: 12, cut: 'middle', cell: ({ listed }) => visibleName(listed.name) },
  status: { title: 'STATUS', cell: statusCell },
  version: count('VERSION', summary => summary.version),
  root: text('ROOT', summary => summary.root),
  created: time('CREATED', ({ summary }) => summary?.createdMs),
  key: text('KEY', summary => summary.key),
  topic: text('TOPIC', summary => summary.topic),
  tag: text('TAG', summary => summary.tag),
  trackingId: text('TRACKING ID', summary => summary.trackingId),
  outcome: text('OUTCOME', summary => summary.outcome),
  open: count('OPEN', summary => summary.open),
  failed: count('FAILED', summary => summary.failed),
  total: count('TOTAL', summary => summary.total),
  due: { title: 'DUE', cell: dueCell },
  waitingOn: text('WAITING ON', summary => idsText(summary.waitingOn, MAX_IDS), 3),
  failedAt: time('FAILED AT', ({ summary }) => summary?.failedAtMs),
  failedId: text('FAILED EVENT', summary => summary.failedId),
  failure: text('FAILURE', summary => summary.failure, 5),
  lastBy: text('BY', summary => summary.lastBy),
  lease: { title: 'LEASE', give: 2, min: 6, cell: ({ listed }) => leaseCell(listed) },
  modified: time('CHANGED', ({ listed }) => listed.modifiedMs),
  error: { title: 'ERROR', give: 5, min: 10, cell: item => faultCell(item) ?? '-' },
}

const AGE: ListingColumn = {
  title: 'AGE',
  align: 'right',
  cell: (item, nowMs, style) => (item.fault ? emptyText(item) : timeText(item.summary?.createdMs, nowMs, style)),
}

/** Completed, open, failed: their sum is all events that count. Short, so that a row fits in 80 columns. */
const EVENTS: ListingColumn = {
  title: 'DONE/OPEN/✗',
  align: 'right',
  cell(item) {
    if (item.summary === undefined) return emptyText(item)
    const { total, open, failed } = item.summary
    return `${total - open - failed}/${open}/${failed}`
  },
}

/** Unreadable streams show the reason instead of what they wait on. */
const WAITING_OR_FAULT: ListingColumn = {
  ...COLUMNS.waitingOn,
  cell: (item, nowMs, style) => faultCell(item) ?? COLUMNS.waitingOn.cell(item, nowMs, style),
}

const FAILURE: ListingColumn = text(
  'LAST FAILURE',
  ({ failedId, failure }) => [failedId, failure].filter(part => part !== '').join(' '),
  5,
)

function text(title: string, read: (summary: Summary) => string, give = 4): ListingColumn {
  const cell = (item: SummarizedStream) => (item.summary && visibleText(read(item.summary))) || emptyText(item)
  return { title, give, min: 10, cell }
}

function count(title: string, read: (summary: Summary) => number): ListingColumn {
  return { title, align: 'right', cell: item => (item.summary ? String(read(item.summary)) : emptyText(item)) }
}

function time(title: string, read: (item: SummarizedStream) => number | undefined): ListingColumn {
  return {
    title,
    cell(item, nowMs, style) {
      const ms = read(item)
      if (ms === undefined) return emptyText(item)
      return style === 'relative' ? `${span(nowMs - ms)} ago` : timeText(ms, nowMs, style)
    },
  }
}

/** Placeholder without a value: `?` for an unreadable stream. */
function emptyText({ fault }: SummarizedStream): string {
  return fault === undefined ? '-' : '?'
}

function statusCell({ summary, fault }: SummarizedStream): Cell {
  if (summary === undefined) return { text: `? ${fault?.code ?? 'not started'}`, style: 'warn' }
  const { glyph, style } = styleOf(summary.status)
  const errors = summary.outcome === 'errors' && summary.status === 'completed'
  return { text: `${glyph} ${statusWord(summary.status)}${errors ? ' (errors)' : ''}`, style: errors ? 'warn' : style }
}

function faultCell(item: SummarizedStream): Cell | undefined {
  const text = faultText(item)
  return text === undefined ? undefined : { text: visibleText(text), style: 'warn' }
}

function dueCell(item: SummarizedStream, nowMs: number, style: TimeStyle): Cell {
  const dueMs = item.summary?.dueMs
  if (dueMs === undefined) return emptyText(item)
  const due = dueText(dueMs, nowMs, style)
  if (dueMs > nowMs) return due
  return { text: due.startsWith('overdue') ? due : `overdue ${due}`, style: 'bad' }
}

function leaseCell({ lease }: StreamRow): Cell {
  if (!isHeld(lease)) return '-'
  return { text: lease.holder === undefined ? lease.state : visibleText(lease.holder.by), style: 'warn' }
}

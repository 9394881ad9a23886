import type { SummarizedStream } from '../ops/summaries.ts'
import type { Listed } from '../store/store.ts'
import type { Summary } from '../stream/summary.ts'
import { visibleText } from '../stream/texts.ts'
import { dueText, type TimeStyle, timeText } from './age.ts'
import { jsonTime, orNull } from './json.ts'
import { leaseJson } from './lease-text.ts'
import { lookOf } from './status.ts'
import type { Cell, Column } from './table.ts'

/** A stream as one item of `ls -o json` and one line of `-o ndjson`; fields are only ever added. */
export function listingJson({ listed, summary, fault }: SummarizedStream) {
  return {
    name: listed.name,
    status: orNull(summary?.status),
    version: summary?.version ?? null,
    root: orNull(summary?.root),
    created: jsonTime(summary?.createdMs),
    key: orNull(summary?.key),
    topic: orNull(summary?.topic),
    tag: orNull(summary?.tag),
    trackingId: orNull(summary?.trackingId),
    outcome: orNull(summary?.outcome),
    open: summary?.open ?? null,
    failed: summary?.failed ?? null,
    total: summary?.total ?? null,
    due: jsonTime(summary?.dueMs),
    waitingOn: summary?.waitingOn ?? [],
    failedAt: jsonTime(summary?.failedAtMs),
    failure: orNull(summary?.failure),
    lease: leaseJson(listed.lease),
    modified: jsonTime(listed.modifiedMs),
    ...(fault === undefined ? {} : { error: fault }),
  }
}

/** Columns of the table of streams. */
export function listingColumns(time: TimeStyle): Column[] {
  return [
    { title: 'NAME', give: 1, min: 12 },
    { title: 'STATUS' },
    { title: 'PROGRESS' },
    { title: 'WAITING ON', give: 3, min: 10 },
    { title: 'DUE' },
    { title: time === 'relative' ? 'AGE' : 'CREATED', align: 'right' },
    { title: 'LEASE', give: 2, min: 6 },
  ]
}

/** One row of it. */
export function listingRow(item: SummarizedStream, nowMs: number, time: TimeStyle): Cell[] {
  const { listed, summary, fault } = item
  const name = visibleText(listed.name)
  if (summary === undefined) {
    const status = fault === undefined ? '? not started' : `? ${fault.code}`
    return [name, { text: status, style: 'warn' }, '-', '-', '-', '-', leaseCell(listed)]
  }
  const due = dueText(summary.dueMs, nowMs, time)
  return [
    name,
    statusCell(summary),
    progress(summary),
    summary.waitingOn.length === 0 ? '-' : waiting(summary.waitingOn),
    due.startsWith('overdue') ? { text: due, style: 'bad' } : due,
    timeText(summary.createdMs, nowMs, time),
    leaseCell(listed),
  ]
}

function statusCell(summary: Summary): Cell {
  const { glyph, style } = lookOf(summary.status)
  const errors = summary.outcome === 'errors' && summary.status === 'completed'
  return { text: `${glyph} ${visibleText(summary.status)}${errors ? ' (errors)' : ''}`, style: errors ? 'warn' : style }
}

/** Ended of all, and how many of them failed: `5/10 ✗1`. */
function progress(summary: Summary): string {
  return `${summary.total - summary.open}/${summary.total}${summary.failed > 0 ? ` ✗${summary.failed}` : ''}`
}

const MAX_IDS = 3

function waiting(ids: readonly string[]): string {
  const named = ids.filter(id => !id.startsWith('+'))
  const cutOff = ids.reduce((sum, id) => sum + (id.startsWith('+') ? Number(id.slice(1)) || 0 : 0), 0)
  const more = Math.max(0, named.length - MAX_IDS) + cutOff
  return `${named.slice(0, MAX_IDS).map(visibleText).join(' ')}${more > 0 ? ` +${more}` : ''}`
}

function leaseCell({ lease }: Listed): Cell {
  if (lease.state !== 'leased' && lease.state !== 'breaking') return '-'
  return { text: lease.holder === undefined ? lease.state : visibleText(lease.holder.by), style: 'warn' }
}

import type { AuditEntry } from '../ops/audit-log.ts'
import { visibleName, visibleText } from '../util/visible-text.ts'
import { jsonTimeOf, orNull } from './json.ts'
import { clock, counted, countText, span, type TimeStyle } from './terminal/numbers.ts'
import type { Cell, Column } from './terminal/table.ts'

/** An entry of the audit log as JSON; fields are only ever added. */
export function auditJson({ id, at, by, host, op, why, commandId, streams, names, source, end }: AuditEntry) {
  return {
    id,
    at: jsonTimeOf(at),
    by,
    host: orNull(host),
    op,
    why: orNull(why),
    commandId: orNull(commandId),
    streams: streams ?? null,
    names,
    source: orNull(source),
    end: end === undefined ? null : { at: jsonTimeOf(end.at), counts: end.counts },
  }
}

/** The fields of an entry. */
export const AUDIT_FIELDS = [
  'id',
  'at',
  'by',
  'host',
  'op',
  'why',
  'commandId',
  'streams',
  'names',
  'source',
  'end',
] as const

/** Columns of `log --audit`. */
export const AUDIT_COLUMNS: readonly Column[] = [
  { title: 'WHEN' },
  { title: 'WHO', give: 3, min: 10 },
  { title: 'WHAT' },
  { title: 'STREAMS', give: 2, min: 14, cut: 'middle' },
  { title: 'OUTCOME', give: 1, min: 10 },
  { title: 'REASON', runsOn: true, min: 8 },
]

/** One row of `log --audit`, safe to print. */
export function auditRow(entry: AuditEntry, nowMs: number, time: TimeStyle): Cell[] {
  const atMs = Date.parse(entry.at)
  const when = time === 'relative' ? `${span(nowMs - atMs)} ago` : clock(atMs, nowMs, time)
  return [
    { text: when, style: 'dim' },
    visibleText(entry.by),
    visibleText(entry.op),
    streamsText(entry),
    { text: outcomeText(entry), style: entry.end === undefined ? 'warn' : 'plain' },
    visibleText(entry.why),
  ]
}

/** `orders/1 orders/2 +10`, for an import with its source. */
function streamsText({ op, names, streams, end, source }: AuditEntry): string {
  if (op === 'break-container-lease') return visibleText(source)
  const shown = names.slice(0, 2).map(visibleName)
  const total = streams ?? end?.counts.done ?? 0
  const more = total - shown.length
  const text = [...shown, ...(more > 0 ? [`+${countText(more)}`] : [])].join(' ')
  const from = source === '' ? '' : `from ${visibleText(source)}`
  // an import does not know its streams before it has read them
  const nothing = end === undefined && streams === undefined ? '?' : 'none'
  return [text === '' && total === 0 ? nothing : text, from].filter(part => part !== '').join(' ')
}

/** `12 done, 1 busy` */
function outcomeText({ streams, end }: AuditEntry): string {
  if (end === undefined) return `no end recorded${streams === undefined ? '' : ` of ${counted(streams, 'stream')}`}`
  const parts = Object.entries(end.counts).map(([word, count]) => `${countText(count)} ${visibleText(word)}`)
  return parts.length === 0 ? 'nothing done' : parts.join(', ')
}

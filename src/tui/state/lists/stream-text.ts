import { stateStyle, streamStateOf } from '../../../formats/listing/health.ts'
import { faultText } from '../../../formats/stream/view.ts'
import { calmSpan } from '../../../formats/terminal/numbers.ts'
import { hasUnacknowledgedFailure, isOverdue } from '../../../ops/filter.ts'
import { isAbandoned } from '../../../ops/open-events.ts'
import type { Summary } from '../../../stream/summary.ts'
import { runningEvent } from '../../../stream/summary-items.ts'
import type { StreamEntry } from '../../data/types.ts'
import { type FieldsOfRow, type FilterField, type SearchText, searchText } from './rows.ts'

/** What the row of a stream shows, for a filter. Fields that the row does not show are found by their names only. */
export function streamText(entry: StreamEntry, nowMs: number): string {
  return withWordsOfTime(LASTING(entry), entry, nowMs)
}

/** The same with the holder of its lease. */
export function leaseText(entry: StreamEntry, nowMs: number): string {
  return withWordsOfTime(LASTING_LEASE(entry), entry, nowMs)
}

/** These change without a write. */
function withWordsOfTime(text: string, { item: { summary } }: StreamEntry, nowMs: number): string {
  if (summary === undefined) return text
  const { word } = stateStyle(streamStateOf(summary, nowMs))
  return `${text}\n${word}\n${isAbandoned(summary, nowMs) ? 'abandoned' : ''}\n${dueWords(summary, nowMs)}`
}

function dueWords(summary: Summary, nowMs: number): string {
  const { dueMs } = summary
  if (dueMs === undefined) return ''
  return isOverdue(summary, nowMs) ? `overdue ${calmSpan(nowMs - dueMs)}` : `in ${calmSpan(dueMs - nowMs)}`
}

const LASTING: SearchText<StreamEntry> = searchText(lastingTexts)
const LASTING_LEASE: SearchText<StreamEntry> = searchText(entry => {
  const { state, holder } = entry.item.listed.lease
  return [...lastingTexts(entry), state, holder?.host ?? '', holder?.purpose ?? '']
})

function lastingTexts({ name, item }: StreamEntry): readonly string[] {
  const { summary, fault, listed } = item
  const holder = listed.lease.holder?.by ?? ''
  if (summary === undefined) {
    return fault === undefined ? [name, holder] : [name, holder, 'unreadable', fault.code, faultText(item) ?? '']
  }
  const { status, outcome, waitingOn, failedId, failedName, failure, failed, canceled } = summary
  return [
    name,
    holder,
    status === 'completed' && outcome === 'errors' ? '' : status,
    ...(hasUnacknowledgedFailure(summary) ? ['failed'] : failed > 0 ? ['acknowledged'] : []),
    ...(failed > 0 ? [`✗ ${failed}`] : []),
    ...(canceled > 0 ? ['canceled', `⊘ ${canceled}`] : []),
    ...waitingOn,
    failedId,
    failedName,
    failure,
  ]
}

/** The fields that a filter can name. */
export function fieldsOfStream({ name, item: { summary, listed } }: StreamEntry): FieldsOfRow {
  return field =>
    field === 'name' ? [name] : summary === undefined ? [] : valuesOf(field, summary, listed.lease.holder?.by)
}

function valuesOf(field: Exclude<FilterField, 'name'>, summary: Summary, holder = ''): readonly string[] {
  switch (field) {
    case 'status':
      return [summary.status]
    case 'failed':
      return [summary.failedId, summary.failedName, summary.failure]
    case 'owner':
      return [holder, ...summary.running.map(item => runningEvent(item)?.owner ?? '')]
    case 'tracking':
      return [summary.trackingId]
    case 'root':
    case 'key':
    case 'topic':
    case 'tag':
      return [summary[field]]
    default:
      return field satisfies never
  }
}

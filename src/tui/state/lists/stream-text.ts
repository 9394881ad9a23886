import { waitsForText } from '../../../formats/gate.ts'
import { stateStyle, streamStateOf } from '../../../formats/listing/health.ts'
import { faultText } from '../../../formats/stream/view.ts'
import { calmSpan } from '../../../formats/terminal/numbers.ts'
import { hasUnacknowledgedFailure, isOverdue } from '../../../ops/filter.ts'
import { gatedEvents, isAbandoned, openEvents, runningClaims } from '../../../ops/open-events.ts'
import { isFinal } from '../../../stream/event.ts'
import type { Summary } from '../../../stream/summary.ts'
import type { StreamEntry } from '../../data/types.ts'
import type { FilterField, FilterFields } from './filter.ts'
import { type SearchText, searchText } from './rows.ts'

/** What the row of a stream shows, and the texts that it does not show, for a filter. */
export function streamText(entry: StreamEntry, nowMs: number): string {
  return withWordsOfTime(LASTING(entry), entry, nowMs)
}

/** These change without a write. */
function withWordsOfTime(text: string, { item: { summary } }: StreamEntry, nowMs: number): string {
  if (summary === undefined) return text
  const { glyph, word } = stateStyle(streamStateOf(summary, nowMs))
  return `${text}\n${glyph} ${word}\n${isAbandoned(summary, nowMs) ? 'abandoned' : ''}\n${dueWords(summary, nowMs)}`
}

function dueWords(summary: Summary, nowMs: number): string {
  const { dueMs } = summary
  if (dueMs === undefined) return ''
  return isOverdue(summary, nowMs) ? `overdue ${calmSpan(nowMs - dueMs)}` : `in ${calmSpan(dueMs - nowMs)}`
}

const LASTING: SearchText<StreamEntry> = searchText(entry => {
  const { name, item } = entry
  const { summary } = item
  if (summary !== undefined) return [name, ...leaseTexts(entry), ...summaryTexts(summary)]
  const fault = item.fault === undefined ? [] : ['unreadable', item.fault.code, faultText(item) ?? '']
  return [name, ...leaseTexts(entry), ...fault]
})

function summaryTexts(summary: Summary): readonly string[] {
  const { status, outcome, waitingOn, failedId, failedName, failure, failed, canceled } = summary
  return [
    status === 'completed' && outcome === 'errors' ? '' : status,
    ...(hasUnacknowledgedFailure(summary) ? ['failed'] : failed > 0 ? ['acknowledged'] : []),
    ...(failed > 0 ? [`✗ ${failed}`] : []),
    ...(canceled > 0 ? ['canceled', `⊘ ${canceled}`] : []),
    ...waitingOn,
    // Neither names nor conditions change with time, but for what is left until a time.
    ...openEvents(summary, 0).map(({ name }) => name),
    ...gatedEvents(summary).flatMap(({ name, waitsFor }) => [name, waitsForText(waitsFor, 0, 'utc')]),
    ...[failedId, failedName, failure].filter(text => text !== ''),
    ...[summary.root, summary.key, summary.topic, summary.tag, summary.trackingId],
    ...runningClaims(summary).map(({ owner }) => owner),
  ]
}

function leaseTexts({ item: { listed } }: StreamEntry): readonly string[] {
  const { state, holder } = listed.lease
  return state === 'available' ? [] : [state, holder?.by ?? '', holder?.host ?? '', holder?.purpose ?? '']
}

/** The words for `status:`, among them those of the line of health. */
function statusWords({ item: { summary, fault } }: StreamEntry, nowMs: number): readonly string[] {
  if (summary === undefined) return fault === undefined ? [] : ['unreadable', fault.code]
  return [
    summary.status,
    stateStyle(streamStateOf(summary, nowMs)).word,
    isFinal(summary) ? '' : 'open',
    hasUnacknowledgedFailure(summary) ? 'failed' : summary.failed > 0 ? 'acknowledged' : '',
    isAbandoned(summary, nowMs) ? 'abandoned' : '',
    isOverdue(summary, nowMs) ? 'overdue' : '',
  ]
}

function eventTexts(summary: Summary, nowMs: number): readonly string[] {
  const { failedId, failedName, waitingOn } = summary
  return [...openEvents(summary, nowMs).map(({ name }) => name), ...waitingOn, failedId, failedName]
}

type OfSummary<Value> = (summary: Summary, nowMs: number) => Value

function ofSummary(field: {
  readonly texts?: OfSummary<readonly string[]>
  readonly number?: OfSummary<number | undefined>
}): FilterField<StreamEntry> {
  const { texts, number } = field
  return {
    ...(texts && { texts: ({ item: { summary } }, nowMs) => (summary === undefined ? [] : texts(summary, nowMs)) }),
    ...(number && { number: ({ item: { summary } }, nowMs) => summary && number(summary, nowMs) }),
  }
}

const span = (number: OfSummary<number | undefined>) => ({ ...ofSummary({ number }), isSpan: true }) as const

/** The fields of a stream that a filter can name. */
export const STREAM_FILTER: FilterFields<StreamEntry> = {
  store: { texts: ({ store = '' }) => [store] },
  name: { texts: ({ item }) => [item.listed.name] },
  status: { texts: statusWords },
  failed: ofSummary({ texts: s => [s.failedId, s.failedName, s.failure], number: ({ failed }) => failed }),
  canceled: ofSummary({ number: ({ canceled }) => canceled }),
  open: ofSummary({ number: ({ open }) => open }),
  total: ofSummary({ number: ({ total }) => total }),
  event: ofSummary({ texts: eventTexts }),
  owner: {
    texts: ({ item: { summary, listed } }) => [
      listed.lease.holder?.by ?? '',
      ...runningClaims(summary).map(({ owner }) => owner),
    ],
  },
  lease: { texts: leaseTexts },
  due: span(({ dueMs }, nowMs) => dueMs && dueMs - nowMs),
  age: span(({ createdMs }, nowMs) => createdMs && nowMs - createdMs),
  changed: { number: ({ item }, nowMs) => nowMs - item.listed.modifiedMs, isSpan: true },
  root: ofSummary({ texts: ({ root }) => [root] }),
  key: ofSummary({ texts: ({ key }) => [key] }),
  topic: ofSummary({ texts: ({ topic }) => [topic] }),
  tag: ofSummary({ texts: ({ tag }) => [tag] }),
  tracking: ofSummary({ texts: ({ trackingId }) => [trackingId] }),
  by: ofSummary({ texts: ({ lastBy }) => [lastBy] }),
  version: ofSummary({ number: ({ version }) => version }),
}

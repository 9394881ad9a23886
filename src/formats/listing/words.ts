import { hasUnacknowledgedFailure, isOverdue } from '../../ops/filter.ts'
import { runningClaims } from '../../ops/open-events.ts'
import type { SummarizedStream } from '../../ops/summaries.ts'
import { isFinal } from '../../stream/event.ts'
import { cutCount, type Summary } from '../../stream/summary.ts'
import type { CellFormat } from '../field.ts'
import { faultText } from '../stream/view.ts'
import { counted, countText } from '../terminal/numbers.ts'
import { type StreamHealth, stateStyle, streamStateOf } from './health.ts'

/** A stream as a sentence without glyphs and columns: `orders/4711: failing, 6 of 11 events ended, …`. */
export function streamInWords(item: SummarizedStream, format: CellFormat): string {
  const name = format.name(item.listed.name)
  const { summary } = item
  if (summary === undefined)
    return `${name}: ${item.fault === undefined ? 'no events' : `unreadable: ${format.text(faultText(item) ?? '')}`}`
  const parts = [
    stateStyle(streamStateOf(summary, format.nowMs)).word,
    ...progressWords(summary),
    ...openWords(summary, format),
  ]
  const cause = causeWords(summary)
  return format.text(`${name}: ${parts.join(', ')}${cause === '' ? '' : `; ${cause}`}`)
}

function progressWords({ total, open, failed, canceled }: Summary): readonly string[] {
  return [
    `${countText(total - open)} of ${counted(total, 'event')} ended`,
    ...(failed === 0 ? [] : [`${countText(failed)} failed`]),
    ...(canceled === 0 ? [] : [`${countText(canceled)} canceled`]),
  ]
}

/** Of an open stream. */
function openWords(summary: Summary, { nowMs, span }: CellFormat): readonly string[] {
  const { waitingOn, dueMs, createdMs } = summary
  if (isFinal(summary)) return []
  const cut = cutCount(waitingOn.at(-1))
  const silent = runningClaims(summary).filter(({ claimEndMs }) => claimEndMs !== undefined && claimEndMs <= nowMs)
  return [
    ...(waitingOn.length === 0 ? [] : [`waits on ${fewOf(waitingOn.slice(0, cut === 0 ? undefined : -1), cut)}`]),
    ...(silent.length === 0 ? [] : [`silent: ${fewOf(silent.map(({ id, owner }) => `${owner} of ${id}`))}`]),
    ...(dueMs === undefined
      ? []
      : [isOverdue(summary, nowMs) ? `overdue for ${span(nowMs - dueMs)}` : `due in ${span(dueMs - nowMs)}`]),
    ...(createdMs === undefined ? [] : [`${span(nowMs - createdMs)} old`]),
  ]
}

/** `01.00, 02.00, 03.00 and 258 more`. @param cut number of those that the list leaves out */
function fewOf(words: readonly string[], cut = 0): string {
  const more = words.length + cut - Math.min(words.length, FEW)
  return `${words.slice(0, FEW).join(', ')}${more === 0 ? '' : ` and ${countText(more)} more`}`
}

const FEW = 3

function causeWords(summary: Summary): string {
  const { failed, failedId, failedName, failure } = summary
  if (failedId === '' || !(isFinal(summary) || hasUnacknowledgedFailure(summary))) return ''
  const what = `${failedId} ${failedName}`.trim()
  return `first ${failed === 0 ? 'canceled' : 'failure'} ${what}${failure === '' ? '' : `: ${failure}`}`
}

/** The numbers of streams as a sentence; those that are 0 are left out. */
export function healthInWords(streams: number, health: StreamHealth): string {
  const parts = Object.entries(health).flatMap(([word, count]) => (count === 0 ? [] : [`${countText(count)} ${word}`]))
  return `${[counted(streams, 'stream'), ...parts].join(', ')}`
}

import type { CellFormat } from '../../formats/field.ts'
import { STREAM_FIELDS, statusCell } from '../../formats/listing/columns.ts'
import { stateStyle, streamStateOf } from '../../formats/listing/health.ts'
import type { Cell } from '../../formats/terminal/table.ts'
import { hasUnacknowledgedFailure } from '../../ops/filter.ts'
import { isFinal } from '../../stream/event.ts'
import { isSuspended } from '../../stream/state.ts'
import type { Summary } from '../../stream/summary.ts'
import type { StreamEntry } from '../data/types.ts'
import { joined, type StyledText } from './row.ts'
import { firstLine } from './safe-text.ts'
import { tookSpan } from './times.ts'

/** Glyph and word of the stream's state; why it is unreadable. */
export function stateCell(entry: StreamEntry, format: CellFormat): Cell {
  const { summary } = entry.item
  if (summary === undefined) return statusCell(entry, format)
  const { glyph, word, style } = stateStyle(streamStateOf(summary, format.nowMs))
  return { text: format.text(`${glyph} ${word}`), style }
}

/** `140/402`: ended of all events. */
export function progressCell({ item, isRead }: StreamEntry): Cell {
  const { summary, fault } = item
  if (summary === undefined) return isRead ? (fault === undefined ? '' : '?') : { text: '…', style: 'dim' }
  return `${summary.total - summary.open}/${summary.total}`
}

/** `███▌░░`: the part of the events of an open stream that has ended. */
export function barSpans({ item: { summary } }: StreamEntry): readonly StyledText[] {
  if (summary === undefined || summary.total === 0 || isFinal(summary)) return []
  // A foreign summary may have any numbers.
  const ended = Math.max(0, Math.min(1, (summary.total - summary.open) / summary.total))
  const halves = Math.floor(2 * BAR * ended)
  const full = '█'.repeat(Math.floor(halves / 2))
  const half = halves % 2 === 1 ? '▌' : ''
  const rest = '░'.repeat(BAR - full.length - half.length)
  return [
    [full + half, 'active'],
    [rest, 'dim'],
  ]
}

const BAR = 6

export function failedSpans({ item: { summary } }: StreamEntry): readonly StyledText[] {
  return summary === undefined ? [] : failureSpans(summary)
}

/** Age of an open stream; how long it took and when it ended of another. */
export function ageCell({ item: { summary, listed } }: StreamEntry, format: CellFormat): Cell {
  const { createdMs } = summary ?? {}
  if (summary === undefined || createdMs === undefined) return ''
  const ended = endedMs(summary, listed.modifiedMs)
  if (ended === undefined || format.time !== 'relative') return format.age(createdMs)
  return { text: `took ${tookSpan(ended - createdMs)}`, style: 'dim' }
}

/**
 * When a stream ended: its last change, unless an operator acknowledged its failures since; the last failure then.
 * `undefined` while it is open.
 */
export function endedMs(summary: Summary, modifiedMs: number): number | undefined {
  if (!isFinal(summary)) return undefined
  return summary.ackMs === undefined ? modifiedMs : (summary.failedAtMs ?? modifiedMs)
}

/** `✗ 1 ⊘ 3`. Failures that were acknowledged are plain. */
export function failureSpans(summary: Summary): readonly StyledText[] {
  const { failed, canceled } = summary
  return joined(
    [
      failed === 0 ? [] : [[`✗ ${failed}`, hasUnacknowledgedFailure(summary) ? 'bad' : 'plain']],
      canceled === 0 ? [] : [[`⊘ ${canceled}`, 'warn']],
    ],
    ' ',
  )
}

/**
 * Who suspended the stream; what it waits on; of one that has ended or has failed events, the first failure. That it was
 * canceled without a reason is no cause.
 */
export function causeCell(entry: StreamEntry, format: CellFormat): Cell {
  const { summary } = entry.item
  if (summary === undefined) return STREAM_FIELDS.waitingOrFault.cell(entry, format)
  if (isSuspended(summary)) return STREAM_FIELDS.suspended.cell(entry, format)
  const { failed, failedId, failure } = summary
  if (failed === 0 && isFinal(summary) && failure === '') return ''
  if (failedId === '' || !(isFinal(summary) || hasUnacknowledgedFailure(summary)))
    return STREAM_FIELDS.waitingOn.cell(entry, format)
  const text = format.text(`${failedId} ${firstLine(failure)}`.trim())
  return hasUnacknowledgedFailure(summary) ? { text, style: 'bad' } : text
}

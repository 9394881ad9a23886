import type { CellFormat } from '../../formats/field.ts'
import { STREAM_FIELDS, statusCell } from '../../formats/listing/columns.ts'
import { stateStyle, streamStateOf } from '../../formats/listing/health.ts'
import type { Cell } from '../../formats/terminal/table.ts'
import { hasUnacknowledgedFailure } from '../../ops/filter.ts'
import { isFinal } from '../../stream/event.ts'
import { isSuspended } from '../../stream/state.ts'
import type { Summary } from '../../stream/summary.ts'
import type { StreamEntry } from '../data/types.ts'
import { joined, type StyledText, widthOfSpans } from './row.ts'

/** Glyph and word of the stream's state; why it is unreadable. */
export function stateCell(entry: StreamEntry, format: CellFormat): Cell {
  const { summary } = entry.item
  if (summary === undefined) return statusCell(entry, format)
  const { glyph, word, style } = stateStyle(streamStateOf(summary, format.nowMs))
  return { text: format.text(`${glyph} ${word}`), style }
}

/** `140/402 ✗ 9 ⊘ 3`: ended of all events, failed and canceled ones. The numbers of what failed are cut last. */
export function progressSpans(
  { item, isRead }: StreamEntry,
  _format: CellFormat,
  width: number,
): readonly StyledText[] {
  const { summary, fault } = item
  if (summary === undefined) return [isRead ? [fault === undefined ? '-' : '?', 'plain'] : ['…', 'dim']]
  const { open, total } = summary
  const ended = total - open
  const whole = total === 0 ? 0 : Math.floor((100 * ended) / total)
  const failures = failureSpans(summary)
  const texts = [`${ended}/${total}`.padStart(FRACTION), `${ended}/${total}`, `${whole}%`]
  const forms = texts.map(text => joined([[[text, 'plain']], failures], ' '))
  return forms.find(spans => widthOfSpans(spans) <= width) ?? (failures.length > 0 ? failures : [['…', 'plain']])
}

/** Columns of the fraction where rows have room to be aligned. */
const FRACTION = 7

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

/** Who suspended the stream; what it waits on; of one that has ended or has failed events, the first failure. */
export function causeCell(entry: StreamEntry, format: CellFormat): Cell {
  const { summary } = entry.item
  if (summary === undefined) return STREAM_FIELDS.waitingOrFault.cell(entry, format)
  if (isSuspended(summary)) return STREAM_FIELDS.suspended.cell(entry, format)
  const { failedId, failure } = summary
  if (failedId === '' || !(isFinal(summary) || hasUnacknowledgedFailure(summary)))
    return STREAM_FIELDS.waitingOn.cell(entry, format)
  const text = format.text(`${failedId} ${failure}`.trim())
  return hasUnacknowledgedFailure(summary) ? { text, style: 'bad' } : text
}

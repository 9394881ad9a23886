import { lookOf, statusWord } from '../../../formats/stream/status.ts'
import { eventDueMs, type ShownStream, shownStatus, timeOf } from '../../../formats/stream/view.ts'
import { calmSpan } from '../../../formats/terminal/numbers.ts'
import { attemptOf, fenceOf, isFinal, isSuperseded, type StreamEvent } from '../../../stream/event.ts'
import { claimEndMs } from '../../../stream/time/deadlines.ts'
import type { State } from '../../state/state.ts'
import type { Moment } from '../columns.ts'
import type { Span } from '../row.ts'
import { safeText } from '../safe-text.ts'
import { agoText } from '../times.ts'
import { dueSpan } from '../view-times.ts'
import type { TreeColumn, TreeColumnId } from './tree-columns.ts'

/** What the cells of an event are made from. */
export interface CellContext {
  readonly shown: ShownStream
  readonly time: State['time']
  readonly columns: readonly TreeColumn[]
}

/** What one column says of an event, not yet fitted. */
export function eventCell(id: TreeColumnId, event: StreamEvent, width: number, context: CellContext): Span {
  switch (id) {
    case 'event':
      return [`${safeText(event.id)} ${safeText(event.name)}`, 'plain']
    case 'status':
      return statusSpan(event, context)
    case 'owner':
      return ownerSpan(event, width, context)
    case 'age':
      return [agoText(timeOf(context.shown, event.lc.opened ?? event.created), momentOf(context)), 'plain']
    case 'due':
      return dueCell(event, context)
    case 'attempt':
      return [String(attemptOf(event)), 'plain']
    case 'fence':
      return [String(fenceOf(event) ?? '-'), 'plain']
    case 'topic':
      return [safeText(event.topic), 'plain']
    case 'key':
      return [safeText(event.key), 'plain']
    case 'tag':
      return [safeText(event.tag), 'plain']
    case 'message':
      return [safeText(event.msg), 'plain']
    default:
      return id satisfies never
  }
}

/** Glyph, word and colour of an event as it stands; with the number of its attempt where no column has it. */
export function statusSpan(event: StreamEvent, { shown, columns }: CellContext): Span {
  const state = shownStatus(shown, event)
  const { glyph, style } = lookOf(state)
  if (isSuperseded(event)) return [`${glyph} replaced`, 'dim']
  const attempt = attemptOf(event)
  const number = attempt > 1 && columns.every(({ id }) => id !== 'attempt') ? ` #${attempt}` : ''
  return [`${glyph} ${safeText(statusWord(state))}${number}`, style]
}

/** Who works on it and how long that claim still holds; in a narrow column the due time says the latter. */
function ownerSpan(event: StreamEvent, width: number, { shown }: CellContext): Span {
  const { owner } = event.lc
  if (isFinal(event) || owner === undefined) return ['-', 'plain']
  const [left, style] = claimSpan(event, shown.nowMs)
  if (left === '' || width < 20) return [safeText(owner), style]
  const name = safeText(owner)
  return [`${name.length + left.length + 1 > width ? `${name.slice(0, 7)}…` : name} ${left}`, style]
}

/** `41s left` of a claim, `ran out` after its end; `''` without one. */
export function claimSpan(event: StreamEvent, nowMs: number): Span {
  const until = isFinal(event) ? undefined : claimEndMs(event)
  if (until === undefined) return ['', 'plain']
  return until > nowMs ? [`${calmSpan(until - nowMs)} left`, 'plain'] : ['ran out', 'warn']
}

function dueCell(event: StreamEvent, context: CellContext): Span {
  const { shown, columns } = context
  const due = eventDueMs(shown, event)
  if (due !== undefined) return dueSpan(due, momentOf(context))
  const hasRoom = (columns.find(({ id }) => id === 'owner')?.width ?? 0) >= 20
  return hasRoom ? ['', 'plain'] : claimSpan(event, shown.nowMs)
}

function momentOf({ shown, time }: CellContext): Moment {
  return { nowMs: shown.nowMs, time }
}

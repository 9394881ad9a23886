import { calmSpan } from '../../../formats/terminal/numbers.ts'
import { attemptOf, isUndo, type StreamEvent } from '../../../stream/event.ts'
import { type WaitsFor, waitsFor } from '../../../stream/gate.ts'
import type { StyledText } from '../row.ts'
import { safeText } from '../safe-text.ts'
import { clockText, type RowTime } from '../times.ts'

/** Before the name of an undo step. */
const UNDO_MARK = '↶ '

/** The name of an event; that of an undo step has a mark, as others may have the same name. Safe to print. */
export function markedName(event: StreamEvent): string {
  return `${isUndo(event) ? UNDO_MARK : ''}${safeText(event.name)}`
}

/**
 * What a gated event waits for first: `timer in 2m14s`, `retry in 12s`, `signal approve`, `after 01.00 +2`. Nothing for a
 * join, whose branches stand beside it.
 */
export function waitsSpan(event: StreamEvent, moment: RowTime): StyledText {
  const what = waitsFor(event)
  return what === undefined || what.kind === 'branches' ? ['', 'plain'] : firstSpan(what, event, moment)
}

/** All that it waits for, in this order: `after 01.00, then signal approve, then 2h`. */
export function allWaits(event: StreamEvent, moment: RowTime): StyledText {
  const what = waitsFor(event)
  if (what === undefined) return ['', 'plain']
  const [first, style] = firstSpan(what, event, moment, ALL_IDS)
  const { signal, delay, wake } = event.lc
  const later = [
    what.kind === 'branches' && event.lc.after !== undefined
      ? `after ${safeText(event.lc.after.replaceAll('|', ' '))}`
      : '',
    what.kind !== 'signal' && signal !== undefined ? `signal ${safeText(signal)}` : '',
    delay === undefined ? '' : `${safeText(delay)} more`,
    what.kind !== 'timer' && wake !== undefined ? `not before ${safeText(wake)}` : '',
  ].filter(part => part !== '')
  return [[first, ...later].join(', then '), style]
}

/** Ids in a column. */
const FEW_IDS = 2
const ALL_IDS = 12

function firstSpan(what: WaitsFor, event: StreamEvent, moment: RowTime, most = FEW_IDS): StyledText {
  switch (what.kind) {
    case 'branches':
      return ['its threads', 'dim']
    case 'step':
      return [`step ${what.step} to come`, 'warn']
    case 'after': {
      const more = what.ids.length > most ? ` +${what.ids.length - most}` : ''
      return [`after ${what.ids.slice(0, most).map(safeText).join(' ')}${more}`, 'dim']
    }
    case 'signal':
      return [`signal ${safeText(what.name)}`, 'plain']
    case 'timer':
      return timerSpan(what.wakeMs, attemptOf(event) > 1 ? 'retry' : 'timer', moment)
    default:
      return what satisfies never
  }
}

/** A timer that is over is opened by the next write, worker or watchdog. */
function timerSpan(wakeMs: number | undefined, word: string, moment: RowTime): StyledText {
  if (wakeMs === undefined) return [`${word} ? unreadable`, 'warn']
  const { nowMs, time } = moment
  if (wakeMs <= nowMs) return [`${word} ${calmSpan(nowMs - wakeMs)} ago`, 'warn']
  return [`${word} ${time === 'relative' ? `in ${calmSpan(wakeMs - nowMs)}` : clockText(wakeMs, moment)}`, 'plain']
}

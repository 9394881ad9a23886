import { calmSpan } from '../../formats/terminal/numbers.ts'
import type { Moment } from './columns.ts'
import type { Span } from './row.ts'
import { clockText } from './times.ts'

/** When something is due, in eleven columns, with its style: `in 22s`, `2m14s ago`, or a time, `! 14:02:49` of a past one. */
export function dueSpan(dueMs: number, moment: Moment): Span {
  const { nowMs, time } = moment
  if (dueMs > nowMs) return [time === 'relative' ? `in ${calmSpan(dueMs - nowMs)}` : clockText(dueMs, moment), 'plain']
  return [time === 'relative' ? `${calmSpan(nowMs - dueMs)} ago` : `! ${clockText(dueMs, moment)}`, 'bad']
}

/** The clock of times that are not ages: here, or in UTC where that is asked for. */
export function clockOnly({ nowMs, time }: Moment): Moment {
  return { nowMs, time: time === 'relative' ? 'local' : time }
}

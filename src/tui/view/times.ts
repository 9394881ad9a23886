import { calmSpan, parts } from '../../formats/terminal/numbers.ts'
import type { Cell } from '../../formats/terminal/table.ts'
import type { RowTime } from './columns.ts'
import type { StyledText } from './row.ts'

/** Columns that times take: the widest text of each kind. */
export const AGE_WIDTH = 9
export const DUE_WIDTH = 14

/** How long ago, or at what time; seconds only while they matter. `-` for an unknown one. */
export function agoText(ms: number | undefined, moment: RowTime): string {
  if (ms === undefined) return '-'
  return moment.time === 'relative' ? calmSpan(moment.nowMs - ms) : clockText(ms, moment)
}

/** The same where it must be said that it is in the past: `2m14s ago`. */
export function pastText(ms: number | undefined, moment: RowTime): string {
  const text = agoText(ms, moment)
  return ms === undefined || moment.time !== 'relative' ? text : `${text} ago`
}

/** Until when: `in 8m`, `overdue 2m14s`, `! 14:02:49`. */
export function dueCell(ms: number | undefined, moment: RowTime): Cell {
  if (ms === undefined) return '-'
  const { nowMs, time } = moment
  if (ms > nowMs) return time === 'relative' ? `in ${calmSpan(ms - nowMs)}` : clockText(ms, moment)
  const text = time === 'relative' ? `overdue ${calmSpan(nowMs - ms)}` : `! ${clockText(ms, moment)}`
  return { text, style: 'bad' }
}

/** A time of day; of another day its date and hour, of another year its month. */
export function clockText(ms: number, { nowMs, time }: RowTime): string {
  if (!isDate(ms)) return '?'
  const style = time === 'utc' ? 'utc' : 'local'
  const at = parts(ms, style)
  const now = parts(nowMs, style)
  if (at.date === now.date) return at.time.slice(0, 8)
  return at.date.slice(0, 4) === now.date.slice(0, 4)
    ? `${at.date.slice(5)} ${at.time.slice(0, 2)}h`
    : at.date.slice(0, 7)
}

/** A whole time with its date, for panes: `2026-11-20 14:02:49Z`, and how long ago that is. */
export function wholeTimeText(ms: number | undefined, { nowMs, time }: RowTime): string {
  if (ms === undefined) return '-'
  if (!isDate(ms)) return '?'
  const at = parts(ms, time === 'utc' ? 'utc' : 'local')
  const age = ms > nowMs ? `in ${calmSpan(ms - nowMs)}` : `${calmSpan(nowMs - ms)} ago`
  return `${at.date} ${at.time} (${age})`
}

function isDate(ms: number): boolean {
  return Math.abs(ms) < 8.64e15 - 86_400_000
}

/** When something is due, in eleven columns, with its style: `in 22s`, `2m14s ago`, or a time, `! 14:02:49` of a past one. */
export function dueSpan(dueMs: number, moment: RowTime): StyledText {
  const { nowMs, time } = moment
  if (dueMs > nowMs) return [time === 'relative' ? `in ${calmSpan(dueMs - nowMs)}` : clockText(dueMs, moment), 'plain']
  return [time === 'relative' ? `${calmSpan(nowMs - dueMs)} ago` : `! ${clockText(dueMs, moment)}`, 'bad']
}

/** The clock of times that are not ages: here, or in UTC where that is asked for. */
export function clockOnly({ nowMs, time }: RowTime): RowTime {
  return { nowMs, time: time === 'relative' ? 'local' : time }
}

import type { CellFormat } from '../../formats/field.ts'
import { calmSpan, parts, type TimeStyle } from '../../formats/terminal/numbers.ts'
import type { Cell } from '../../formats/terminal/table.ts'
import type { StyledText } from './row.ts'
import { safeName, safeText } from './safe-text.ts'

/** The current time, and how times are shown. */
export type RowTime = Pick<CellFormat, 'nowMs' | 'time'>

/** The format of the dashboard. */
export function screenFormat(nowMs: number, time: TimeStyle): CellFormat {
  const at = { nowMs, time }
  return {
    ...at,
    text: safeText,
    name: safeName,
    span: calmSpan,
    age: ms => agoText(ms, at),
    past: ms => pastText(ms, at),
    due: ms => dueCell(ms, at),
  }
}

/** An age or a time; seconds only where they matter. `-` for an unknown one. */
export function agoText(ms: number | undefined, moment: RowTime): string {
  if (ms === undefined) return '-'
  return moment.time === 'relative' ? calmSpan(moment.nowMs - ms) : clockText(ms, moment)
}

/** How long something took: tenths of seconds where they matter. */
export function tookSpan(ms: number): string {
  return ms < 10_000 ? `${(Math.max(0, ms) / 1_000).toFixed(1)}s` : calmSpan(ms)
}

/** The same with the past stated: `2m14s ago`. */
export function pastText(ms: number | undefined, moment: RowTime): string {
  const text = agoText(ms, moment)
  return ms === undefined || moment.time !== 'relative' ? text : `${text} ago`
}

/** A due time: `in 8m`, `overdue 2m14s`, `! 14:02:49`. */
export function dueCell(ms: number | undefined, moment: RowTime): Cell {
  if (ms === undefined) return '-'
  const { nowMs, time } = moment
  if (ms > nowMs) return time === 'relative' ? `in ${calmSpan(ms - nowMs)}` : clockText(ms, moment)
  const text = time === 'relative' ? `overdue ${calmSpan(nowMs - ms)}` : `! ${clockText(ms, moment)}`
  return { text, style: 'bad' }
}

/** A time of day; on another day date and hour, in another year the month. */
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

/** A full time with its date, for panes: `2026-11-20 14:02:49Z`, and its age. */
export function wholeTimeText(ms: number | undefined, { nowMs, time }: RowTime): string {
  if (ms === undefined) return '-'
  if (!isDate(ms)) return '?'
  const at = parts(ms, time === 'utc' ? 'utc' : 'local')
  // The screen's time is that of its last whole second: what has just happened is a little later.
  const age = ms >= nowMs + 1_000 ? `in ${calmSpan(ms - nowMs)}` : `${calmSpan(Math.max(0, nowMs - ms))} ago`
  return `${at.date} ${at.time} (${age})`
}

function isDate(ms: number): boolean {
  return Math.abs(ms) < 8.64e15 - 86_400_000
}

/** A due time in eleven columns, with its style: `in 22s`, `2m14s ago`, or a time, `! 14:02:49` if past. */
export function dueSpan(dueMs: number, moment: RowTime): StyledText {
  const { nowMs, time } = moment
  if (dueMs > nowMs) return [time === 'relative' ? `in ${calmSpan(dueMs - nowMs)}` : clockText(dueMs, moment), 'plain']
  return [time === 'relative' ? `${calmSpan(nowMs - dueMs)} ago` : `! ${clockText(dueMs, moment)}`, 'bad']
}

/** Clock times instead of ages: local, or UTC if selected. */
export function clockOnly({ nowMs, time }: RowTime): RowTime {
  return { nowMs, time: time === 'relative' ? 'local' : time }
}

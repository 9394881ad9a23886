import { isoTime } from '../../stream/time/dates.ts'
import { formatDuration } from '../../stream/time/durations.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A duration in two units, in whole seconds: `41s`, `2m14s`, `3h5m`, `2d4h`. Negative ones count as 0. */
export function span(ms: number): string {
  return formatDuration(Math.floor(Math.max(0, ms) / SECOND) * SECOND)
}

/**
 * A duration for screens, coarser so that it changes rarely: seconds up to ten minutes, minutes up to a day, hours up
 * to a hundred days.
 */
export function calmSpan(ms: number): string {
  const unit = ms < 10 * MINUTE ? SECOND : ms < DAY ? MINUTE : ms < 100 * DAY ? HOUR : DAY
  return formatDuration(Math.floor(Math.max(0, ms) / unit) * unit)
}

/** A duration in its largest unit, rounded down: `22s`, `8m`, `3h`, `2d`. */
export function roughSpan(ms: number): string {
  const rest = Math.max(0, ms)
  if (rest < MINUTE) return `${Math.floor(rest / SECOND)}s`
  if (rest < HOUR) return `${Math.floor(rest / MINUTE)}m`
  if (rest < DAY) return `${Math.floor(rest / HOUR)}h`
  return `${Math.floor(rest / DAY)}d`
}

/** Display of times: `relative` to now, clock time here or in UTC, or RFC 3339. */
export type TimeStyle = 'relative' | 'local' | 'utc' | 'iso'

/** An age or a time. `-` for an unknown one. */
export function timeText(ms: number | undefined, nowMs: number, style: TimeStyle): string {
  if (ms === undefined) return '-'
  return style === 'relative' ? span(nowMs - ms) : clock(ms, nowMs, style)
}

/** A due time: `in 1h59m`, `overdue 2m14s`, or a time. `-` for none. */
export function dueText(ms: number | undefined, nowMs: number, style: TimeStyle): string {
  if (ms === undefined) return '-'
  if (style !== 'relative') return clock(ms, nowMs, style)
  return ms > nowMs ? `in ${span(ms - nowMs)}` : `overdue ${span(nowMs - ms)}`
}

/** A time: `14:02:49`, preceded by the date unless it is today; `iso` is RFC 3339 in UTC. */
export function clock(ms: number, nowMs: number, style: Exclude<TimeStyle, 'relative'>): string {
  if (style === 'iso') return isoTime(ms)
  const { date, time } = parts(ms, style)
  return date === parts(nowMs, style).date ? time : `${date} ${time}`
}

/** Date and time of day: `2026-11-20` and `14:02:49`, in UTC with `Z`. */
export function parts(ms: number, style: 'local' | 'utc'): { date: string; time: string } {
  const at = new Date(style === 'utc' ? ms : ms - new Date(ms).getTimezoneOffset() * MINUTE)
  const text = at.toISOString()
  return { date: text.slice(0, 10), time: text.slice(11, 19) + (style === 'utc' ? 'Z' : '') }
}

/** A count: `12431`. Without separators, as `awk` and monitoring read it as well as people do. */
export function countText(count: number): string {
  return String(count)
}

/** A count for the dashboard, which only people read, with its thousands separated: `12 431`. */
export function spacedCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ' ')
}

/** A lower bound, rounded down to two digits: `more than 85000`. */
export function moreThanText(atLeast: number): string {
  const below = Math.max(0, atLeast - 1)
  const unit = 10 ** Math.max(0, String(below).length - 2)
  return `more than ${countText(below < 1_000 ? below : Math.floor(below / unit) * unit)}`
}

/** A count with its noun: `1 stream`, `12431 streams`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`
}

/** The same for the dashboard: `12 431 streams`. */
export function spacedCounted(count: number, one: string, many = `${one}s`): string {
  return `${spacedCount(count)} ${count === 1 ? one : many}`
}

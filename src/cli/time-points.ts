import { parseDuration } from '../stream/time/durations.ts'
import { UsageError } from './problem.ts'

/** A point in time as typed: a duration ago, an instant, or a time of today. */
export type PointInTime =
  | { readonly kind: 'ago'; readonly ms: number }
  | { readonly kind: 'at'; readonly ms: number }
  | { readonly kind: 'today'; readonly hours: number; readonly minutes: number; readonly seconds: number }

/**
 * Reads `30m`, `30m ago`, `2026-11-20T14:00:00Z`, `2026-11-20`, `2026-11-20 14:00` (local time), and `14:00` (today, or
 * yesterday if that is in the future).
 */
export function pointInTime(flag: string): (text: string) => PointInTime {
  return text => {
    const point = timeOfDay(text) ?? instant(text) ?? ago(text)
    if (point !== undefined) return point
    const [, bare] = BARE.exec(text) ?? []
    const what =
      bare === undefined
        ? `${JSON.stringify(text)} is not a time`
        : `${bare} what? ${bare}s, ${bare}m, ${bare}h or ${bare}d`
    throw new UsageError(`${flag}: ${what}`, {
      hint: 'Write a duration ago (30m, 2h, 1d), a time (14:00), a local date and time (2026-11-20 14:00) or RFC 3339.',
    })
  }
}

/** The point in time as epoch ms. */
export function atMs(point: PointInTime, nowMs: number): number {
  switch (point.kind) {
    case 'ago':
      return nowMs - point.ms
    case 'at':
      return point.ms
    case 'today': {
      const day = new Date(nowMs)
      day.setHours(point.hours, point.minutes, point.seconds, 0)
      if (day.getTime() > nowMs) day.setDate(day.getDate() - 1)
      return day.getTime()
    }
    default:
      return point satisfies never
  }
}

function timeOfDay(text: string): PointInTime | undefined {
  const [, hours, minutes, seconds = '0'] = /^(\d{1,2}):(\d\d)(?::(\d\d))?$/.exec(text) ?? []
  if (hours === undefined || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return undefined
  return { kind: 'today', hours: Number(hours), minutes: Number(minutes), seconds: Number(seconds) }
}

const INSTANT = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/i

function instant(text: string): PointInTime | undefined {
  const [, year, month, day, hours = '00', minutes = '00', seconds = '00', zone] = INSTANT.exec(text) ?? []
  if (year === undefined) return undefined
  const ms = Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}${zone?.toUpperCase() ?? ''}`)
  const fits =
    !Number.isNaN(ms) && new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day)
  return fits ? { kind: 'at', ms } : undefined
}

const BARE = /^(\d+)(?:\s+ago)?$/i

function ago(text: string): PointInTime | undefined {
  if (BARE.test(text)) return undefined
  try {
    const ms = parseDuration(text.replace(/\s+ago$/i, ''))
    return { kind: 'ago', ms }
  } catch {
    return undefined
  }
}

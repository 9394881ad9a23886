import { formatDuration } from '../../stream/time/durations.ts'

/** A length of time, short ones to two digits: `350ms`, `1.9s`, `41s`, `2m14s`; `-` for none. */
export function shortLength(ms: number | undefined): string {
  if (ms === undefined) return '-'
  const whole = Math.round(ms)
  return whole >= 1_000 && whole < 10_000 ? `${(Math.floor(whole / 100) / 10).toFixed(1)}s` : formatDuration(whole)
}

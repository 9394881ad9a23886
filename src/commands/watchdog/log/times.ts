import { formatDuration } from '../../../stream/time/durations.ts'

/** A length of time as finely as it matters: `5ms`, `0.4s`, `9.9s`, `2m14s`. */
export function shortTime(ms: number): string {
  const size = Math.max(0, ms)
  if (size < 100) return `${Math.round(size)}ms`
  return size < 10_000 ? `${(size / 1000).toFixed(1)}s` : formatDuration(size)
}

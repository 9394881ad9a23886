import { UsageError } from '../../cli/problem.ts'
import { duration } from '../../cli/values.ts'

/** Seconds of a lease: 15 to 60, or -1 for an infinite one. */
export function leaseDuration(text: string): number {
  if (text === 'infinite') return -1
  const seconds = duration('--duration')(text) / 1000
  if (Number.isInteger(seconds) && seconds >= 15 && seconds <= 60) return seconds
  throw new UsageError(`--duration ${text}: a lease lasts 15s to 60s`, { hint: 'or --duration infinite' })
}

/** Whole seconds from 0 to 60 until a broken lease ends. */
export function breakPeriod(text: string): number {
  const seconds = duration('--period', { zero: true })(text) / 1000
  if (Number.isInteger(seconds) && seconds <= 60) return seconds
  throw new UsageError(`--period ${text}: at most 60s, in whole seconds`, { hint: '--period 0s ends it at once' })
}

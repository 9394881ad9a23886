import { UsageError } from '../../cli/problem.ts'
import { atMs, pointInTime } from '../../cli/values.ts'
import { CLOCKS_DIFFER_MS } from '../../util/clock.ts'
import type { StartPoint } from './options.ts'

/** Reads `start`, `now` or a point in time. */
export function startPoint(text: string): StartPoint {
  return text === 'start' || text === 'now' ? text : pointInTime('--from')(text)
}

/** Epoch ms; 0 for the start, `undefined` for now by the clock of the store. @throws UsageError for a time to come */
export function startMs(from: StartPoint, nowMs: number): number | undefined {
  if (from === 'now') return undefined
  const ms = from === 'start' ? 0 : Math.max(0, atMs(from, nowMs))
  if (ms <= nowMs + CLOCKS_DIFFER_MS) return ms
  throw new UsageError('--from is in the future: nothing would be handed over until then', {
    hint: 'now begins with what comes from now on.',
  })
}

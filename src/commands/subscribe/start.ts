import { atMs, pointInTime } from '../../cli/values.ts'
import type { StartPoint } from './options.ts'

/** Reads `start`, `now` or a point in time. */
export function startPoint(text: string): StartPoint {
  return text === 'start' || text === 'now' ? text : pointInTime('--from')(text)
}

/** Epoch ms; 0 for the start, `undefined` for now by the clock of the store. */
export function startMs(from: StartPoint, nowMs: number): number | undefined {
  if (from === 'now') return undefined
  return from === 'start' ? 0 : Math.max(0, atMs(from, nowMs))
}

import { type Pulse, pulseNow } from '../data/activity-rate.ts'

const BARS = '▁▂▃▄▅▆▇█'

/**
 * Recent changes, a bar for each stretch of time, the latest at the right; `''` where there were none. The scale is the same
 * for all streams and doubles from bar to bar, so that rows compare and nothing shrinks because of a peak.
 */
export function sparkline(pulse: Pulse, nowMs: number): string {
  const counts = pulseNow(pulse, nowMs)
  return counts.every(count => count === 0) ? '' : counts.map(barOf).join('')
}

function barOf(count: number): string {
  const level = count < 1 ? 0 : Math.min(BARS.length - 1, 1 + Math.floor(Math.log2(count)))
  return BARS.charAt(level)
}

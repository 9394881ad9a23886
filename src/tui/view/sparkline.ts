import { PULSE, type StreamEntry } from '../data/types.ts'

const BARS = '▁▂▃▄▅▆▇█'

/**
 * Recent changes, a bar for each stretch of time, the latest at the right; `''` where there were none. The scale is the same
 * for all streams and doubles from bar to bar, so that rows compare and nothing shrinks because of a peak.
 */
export function sparkline({ pulse, pulseAt }: Pick<StreamEntry, 'pulse' | 'pulseAt'>, nowMs: number): string {
  const passed = Math.max(0, Math.floor(nowMs / PULSE.stretchMs) - pulseAt)
  const counts = Array.from({ length: PULSE.stretches }, (_, at) => {
    const back = PULSE.stretches - 1 - at - passed
    return back < 0 ? 0 : (pulse.at(-1 - back) ?? 0)
  })
  return counts.every(count => count === 0) ? '' : counts.map(barOf).join('')
}

function barOf(count: number): string {
  const level = count < 1 ? 0 : Math.min(BARS.length - 1, 1 + Math.floor(Math.log2(count)))
  return BARS.charAt(level)
}

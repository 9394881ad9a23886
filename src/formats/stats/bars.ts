import type { LogHistogram } from '../../ops/stats/histogram.ts'
import { widthOf } from '../terminal/width.ts'
import { shortLength } from './length.ts'

const HEIGHTS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const

/** A stretch of lengths of time, each column as many times as long as the one before it. */
export interface LengthScale {
  readonly fromMs: number
  readonly toMs: number
  readonly columns: number
}

/** From the shortest to the longest of all, so that steps can be compared; `undefined` where nothing was measured. */
export function scaleOf(histograms: readonly LogHistogram[], columns: number): LengthScale | undefined {
  const measured = histograms.filter(({ count }) => count > 0)
  if (measured.length === 0) return undefined
  const fromMs = Math.min(...measured.map(({ minMs = 0 }) => minMs))
  const toMs = Math.max(...measured.map(({ maxMs = 0 }) => maxMs))
  return { fromMs, toMs, columns }
}

/** How often which length occurs, the highest column being the most frequent; a blank where none does. */
export function lengthBars(histogram: LogHistogram, scale: LengthScale): string {
  const counts = new Array<number>(scale.columns).fill(0)
  for (const { ms, count } of histogram.buckets()) {
    const column = columnOf(scale, ms)
    counts[column] = (counts[column] ?? 0) + count
  }
  const most = Math.max(...counts)
  return counts.map(count => (count === 0 ? ' ' : heightOf(count / most))).join('')
}

/** What the scale begins and ends with: `350ms ───── 2h5m`. */
export function scaleTitle({ fromMs, toMs, columns }: LengthScale): string {
  const [from, to] = [shortLength(fromMs), shortLength(toMs)]
  const gap = columns - widthOf(from) - widthOf(to)
  if (fromMs === toMs || gap < 1) return from
  return from + (gap < 3 ? ' '.repeat(gap) : ` ${'─'.repeat(gap - 2)} `) + to
}

function columnOf({ fromMs, toMs, columns }: LengthScale, ms: number): number {
  if (fromMs === toMs) return 0
  const share = logOf(ms / Math.max(1, fromMs)) / logOf(Math.max(1, toMs) / Math.max(1, fromMs))
  return Math.min(columns - 1, Math.max(0, Math.floor(share * columns)))
}

/** What is shorter than a millisecond stands with it. */
function logOf(ratio: number): number {
  return Math.log(Math.max(1, ratio))
}

function heightOf(share: number): string {
  return HEIGHTS[Math.min(HEIGHTS.length, Math.ceil(share * HEIGHTS.length)) - 1] ?? HEIGHTS[0]
}

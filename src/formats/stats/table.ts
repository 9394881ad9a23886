import type { LogHistogram } from '../../ops/stats/histogram.ts'
import { endedAttempts, type StepBy, type StepStats } from '../../ops/stats/stats.ts'
import { formatDuration } from '../../stream/time/durations.ts'
import { visibleText } from '../../util/visible-text.ts'
import { countText } from '../terminal/numbers.ts'
import type { Paint } from '../terminal/style.ts'
import { type Cell, type Column, table } from '../terminal/table.ts'
import { pad, widthOf } from '../terminal/width.ts'

export interface StepTableOptions {
  readonly by: StepBy
  /** Open attempts were counted. */
  readonly open: boolean
  readonly paint: Paint
  /** Columns of the terminal; without it nothing is cut. */
  readonly width?: number
}

interface StepColumn extends Column {
  cell(step: StepStats): Cell
}

const GAP = '  '
/** Narrower bars have no room for their title; wider ones show no more. */
const LEAST_BARS = 16
const MOST_BARS = 40
/** A narrower terminal shows numbers only. */
const LEAST_WIDTH = 72
/** Width where stdout is not a terminal. */
const USUAL_BARS = 24

/** One line per step: counts, outcomes, times waited and run, and the distribution of the run times. */
export function stepTable(steps: readonly StepStats[], options: StepTableOptions): string[] {
  const { paint, width } = options
  const columns = columnsFor(steps, options)
  const rows = steps.map(step => columns.map(column => column.cell(step)))
  const fitted = (to: number | undefined) => table(columns, rows, { ...(to === undefined ? {} : { width: to }), paint })
  if (width !== undefined && width < LEAST_WIDTH) return fitted(width)
  const lines = fitted(width === undefined ? undefined : width - GAP.length - LEAST_BARS)
  const used = lines.reduce((widest, line) => Math.max(widest, widthOf(line)), 0)
  const bars = width === undefined ? USUAL_BARS : Math.min(MOST_BARS, width - used - GAP.length)
  const scale =
    bars < LEAST_BARS
      ? undefined
      : scaleOf(
          steps.map(step => step.ran),
          bars,
        )
  if (scale === undefined) return fitted(width)
  const drawn = [
    paint('dim', scaleTitle(scale)),
    ...steps.map(step => paint('active', lengthBars(step.ran, scale).trimEnd())),
  ]
  return lines.map((line, at) => `${pad(line, used)}${GAP}${drawn[at] ?? ''}`.trimEnd())
}

function columnsFor(steps: readonly StepStats[], { by, open }: StepTableOptions): StepColumn[] {
  const absent = new Set([
    ...(open ? [] : ['OPEN']),
    ...(steps.some(({ outcomes }) => outcomes.canceled > 0) ? [] : ['CANCELED']),
    ...(steps.some(({ transient }) => transient > 0) ? [] : ['TRANSIENT']),
  ])
  const columns: StepColumn[] = [
    { title: by === 'name' ? 'STEP' : 'TOPIC', give: 2, min: 14, cell: step => stepText(step, by) },
    { title: 'EVENTS', align: 'right', cell: ({ events }) => countText(events) },
    { title: 'TRIES', align: 'right', spare: 9, cell: step => countText(endedAttempts(step) + step.outcomes.open) },
    { title: 'OPEN', align: 'right', spare: 4, cell: ({ outcomes }) => countText(outcomes.open) },
    { title: 'FAILED', align: 'right', cell: failedCell },
    { title: 'TRANSIENT', align: 'right', spare: 10, cell: ({ transient }) => countText(transient) },
    { title: 'CANCELED', align: 'right', spare: 10, cell: ({ outcomes }) => countText(outcomes.canceled) },
    length('WAITED p50', 2, ({ waited }) => waited.quantile(0.5)),
    length('p95', 6, ({ waited }) => waited.quantile(0.95)),
    length('RAN p50', 0, ({ ran }) => ran.quantile(0.5)),
    length('p95', 1, ({ ran }) => ran.quantile(0.95)),
    length('p99', 3, ({ ran }) => ran.quantile(0.99)),
    length('max', 8, ({ ran }) => ran.maxMs),
    length('TOOK p50', 5, ({ took }) => took.quantile(0.5)),
    length('p95', 7, ({ took }) => took.quantile(0.95)),
  ]
  return columns.filter(({ title }) => !absent.has(title))
}

function length(title: string, spare: number, read: (step: StepStats) => number | undefined): StepColumn {
  return { title, align: 'right', spare, cell: step => shortLength(read(step)) }
}

function stepText({ step, others }: StepStats, by: StepBy): Cell {
  if (others) return { text: 'others', style: 'dim' }
  return step === '' ? { text: `no ${by}`, style: 'dim' } : visibleText(step)
}

function failedCell(step: StepStats): Cell {
  const failed = step.outcomes.aborted
  if (failed === 0) return '-'
  return { text: `${countText(failed)} (${shareText(failed / endedAttempts(step))})`, style: 'warn' }
}

/** `3%`; `<1%` instead of 0 % for a positive share, at most 99 % below one. */
export function shareText(share: number): string {
  if (share > 0 && share < 0.01) return '<1%'
  return `${share < 1 ? Math.min(99, Math.round(share * 100)) : 100}%`
}

const HEIGHTS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const

/** A logarithmic scale of durations: each column covers a constant factor. */
export interface LengthScale {
  readonly fromMs: number
  readonly toMs: number
  readonly columns: number
}

/**
 * From the shortest to the longest duration of all steps, so that they can be compared; `undefined` without
 * measurements.
 */
export function scaleOf(histograms: readonly LogHistogram[], columns: number): LengthScale | undefined {
  const measured = histograms.filter(({ count }) => count > 0)
  if (measured.length === 0) return undefined
  const fromMs = Math.min(...measured.map(({ minMs = 0 }) => minMs))
  const toMs = Math.max(...measured.map(({ maxMs = 0 }) => maxMs))
  return { fromMs, toMs, columns }
}

/** The frequencies of durations as bars, the most frequent one highest; a blank for none. */
export function lengthBars(histogram: LogHistogram, scale: LengthScale): string {
  const counts = new Array<number>(scale.columns).fill(0)
  for (const { ms, count } of histogram.buckets()) {
    const column = columnOf(scale, ms)
    counts[column] = (counts[column] ?? 0) + count
  }
  const most = Math.max(...counts)
  return counts.map(count => (count === 0 ? ' ' : heightOf(count / most))).join('')
}

/** Both ends of the scale: `350ms ───── 2h5m`. */
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

/** Durations below a millisecond count as one. */
function logOf(ratio: number): number {
  return Math.log(Math.max(1, ratio))
}

function heightOf(share: number): string {
  return HEIGHTS[Math.min(HEIGHTS.length, Math.ceil(share * HEIGHTS.length)) - 1] ?? HEIGHTS[0]
}

/** A duration, short ones with two digits: `350ms`, `1.9s`, `41s`, `2m14s`; `-` for `undefined`. */
export function shortLength(ms: number | undefined): string {
  if (ms === undefined) return '-'
  const whole = Math.round(ms)
  return whole >= 1_000 && whole < 10_000 ? `${(Math.floor(whole / 100) / 10).toFixed(1)}s` : formatDuration(whole)
}

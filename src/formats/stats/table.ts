import { endedAttempts, failedAttempts, type Step, type StepBy } from '../../ops/stats/stats.ts'
import { visibleText } from '../../stream/text.ts'
import { countText } from '../terminal/count-text.ts'
import type { Paint } from '../terminal/style.ts'
import { type Cell, type Column, table } from '../terminal/table.ts'
import { pad, widthOf } from '../terminal/width.ts'
import { lengthBars, scaleOf, scaleTitle } from './bars.ts'
import { shortLength } from './length.ts'

export interface StepTableOptions {
  readonly by: StepBy
  /** Open attempts were counted. */
  readonly open: boolean
  readonly paint: Paint
  /** Columns of the terminal; without it nothing is cut. */
  readonly width?: number
}

interface StepColumn extends Column {
  cell(step: Step): Cell
}

const GAP = '  '
/** Narrower bars have no room for their title, wider ones say no more. */
const LEAST_BARS = 16
const MOST_BARS = 40
/** On a narrower terminal numbers are worth more. */
const LEAST_WIDTH = 72
/** Where stdout is no terminal. */
const USUAL_BARS = 24

/** A line for each step: how many, how they ended, how long they waited and ran, and how the latter spreads. */
export function stepTable(steps: readonly Step[], options: StepTableOptions): string[] {
  const { paint, width } = options
  const columns = columnsFor(options)
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

function columnsFor({ by, open }: StepTableOptions): StepColumn[] {
  const columns: StepColumn[] = [
    { title: by === 'name' ? 'STEP' : 'TOPIC', give: 2, min: 14, cell: step => stepText(step, by) },
    { title: 'EVENTS', align: 'right', cell: ({ events }) => countText(events) },
    { title: 'TRIES', align: 'right', spare: 9, cell: step => countText(endedAttempts(step) + step.outcomes.open) },
    { title: 'OPEN', align: 'right', spare: 4, cell: ({ outcomes }) => countText(outcomes.open) },
    { title: 'FAILED', align: 'right', cell: failedCell },
    length('WAITED p50', 2, ({ waited }) => waited.quantile(0.5)),
    length('p95', 6, ({ waited }) => waited.quantile(0.95)),
    length('RAN p50', 0, ({ ran }) => ran.quantile(0.5)),
    length('p95', 1, ({ ran }) => ran.quantile(0.95)),
    length('p99', 3, ({ ran }) => ran.quantile(0.99)),
    length('max', 8, ({ ran }) => ran.maxMs),
    length('TOOK p50', 5, ({ took }) => took.quantile(0.5)),
    length('p95', 7, ({ took }) => took.quantile(0.95)),
  ]
  return open ? columns : columns.filter(({ title }) => title !== 'OPEN')
}

function length(title: string, spare: number, read: (step: Step) => number | undefined): StepColumn {
  return { title, align: 'right', spare, cell: step => shortLength(read(step)) }
}

function stepText({ step, others }: Step, by: StepBy): Cell {
  if (others) return { text: 'others', style: 'dim' }
  return step === '' ? { text: `no ${by}`, style: 'dim' } : visibleText(step)
}

function failedCell(step: Step): Cell {
  const failed = failedAttempts(step)
  if (failed === 0) return '-'
  return { text: `${countText(failed)} (${shareText(failed / endedAttempts(step))})`, style: 'warn' }
}

/** `3%`; never 0 % of something, nor all of what is less. */
export function shareText(share: number): string {
  if (share > 0 && share < 0.01) return '<1%'
  return `${share < 1 ? Math.min(99, Math.round(share * 100)) : 100}%`
}

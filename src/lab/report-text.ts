import { binsOf } from '../formats/stats/json.ts'
import { shareText, shortLength } from '../formats/stats/table.ts'
import { counted, countText } from '../formats/terminal/numbers.ts'
import type { Paint } from '../formats/terminal/style.ts'
import { type Cell, type Column, table } from '../formats/terminal/table.ts'
import type { LogHistogram } from '../ops/stats/histogram.ts'
import { visibleText } from '../util/visible-text.ts'
import { type LeaseReport, type LeaseWorker, sumOf } from './lease-report.ts'
import { histogramOf } from './samples.ts'
import { rateOf, type StreamReport, type StreamWorker, worstShare } from './stream-report.ts'

export interface TextOptions {
  readonly paint: Paint
  /** Columns of the terminal; `undefined` cuts nothing. */
  readonly width: number | undefined
}

/** Faults listed; further ones are counted. */
const MOST_FAULTS = 10

/** The result of Test A: a line per process, the waiting times, and whether two processes ever held the lease at once. */
export function leaseReportLines(report: LeaseReport, options: TextOptions): string[] {
  const { workers, overlaps, fairness } = report
  const turns = sumOf(workers, worker => worker.turns)
  const attempts = sumOf(workers, worker => worker.attempts)
  const faults = overlaps.map(
    ({ first, second, ms }) => `${first} and ${second} held the lease at the same time for ${ms.toFixed(1)} ms`,
  )
  return [
    ...drawn(LEASE_COLUMNS, workers, options),
    '',
    ...waitedLines(workers, options),
    '',
    `${counted(turns, 'turn')}, ${turns === 0 ? '-' : (attempts / turns).toFixed(1)} attempts each; ${fairnessText(fairness, 'turns')}`,
    ...verdict(faults, 'the lease was never held by two processes at the same time', options),
  ]
}

/** The result of Test B: a line per process, the duration of changes, and whether each event was completed exactly once. */
export function streamReportLines(report: StreamReport, options: TextOptions): string[] {
  const { workers, wallMs, fairness, events, attempts } = report
  const killed = workers.filter(worker => worker.killed).length
  const faults = report.faults.map(({ event, what }) => visibleText(`${event} ${what}`))
  const kills = killed === 0 ? '' : `; ${killed} killed, ${counted(attempts - events, 'event')} taken over`
  return [
    ...drawn(STREAM_COLUMNS, workers, options),
    '',
    ...waitedLines(workers, options),
    '',
    `${shortLength(wallMs)}, ${countText(Math.round(rateOf(report)))} changes a second; ${fairnessText(fairness, 'events')}; longest wait ${shareText(worstShare(report))} of the whole${kills}`,
    ...verdict(
      faults,
      'per the journal, each event was started once per attempt and completed once, by its owner',
      options,
    ),
  ]
}

interface LabColumn<Worker> extends Column {
  cell(worker: Worker): Cell
}

interface Waiting {
  readonly name: string
  readonly waitsMs: readonly number[]
}

function drawn<Worker>(
  columns: readonly LabColumn<Worker>[],
  workers: readonly Worker[],
  options: TextOptions,
): string[] {
  const { paint, width } = options
  const rows = workers.map(worker => columns.map(column => column.cell(worker)))
  return table(columns, rows, { paint, ...(width === undefined ? {} : { width }) })
}

const count = <Worker>(title: string, read: (worker: Worker) => number): LabColumn<Worker> => ({
  title,
  align: 'right',
  cell: worker => countText(read(worker)),
})

const length = <Worker>(
  title: string,
  spare: number,
  read: (worker: Worker) => number | undefined,
): LabColumn<Worker> => ({
  title,
  align: 'right',
  spare,
  cell: worker => shortLength(read(worker)),
})

const NAME = { title: 'PROCESS', give: 2, min: 8 } as const

const WAITED: readonly LabColumn<Waiting>[] = [
  length('WAITED p50', 0, ({ waitsMs }) => histogramOf(waitsMs).quantile(0.5)),
  length('p95', 1, ({ waitsMs }) => histogramOf(waitsMs).quantile(0.95)),
  length('max', 0, ({ waitsMs }) => histogramOf(waitsMs).maxMs),
]

const LEASE_COLUMNS: readonly LabColumn<LeaseWorker>[] = [
  { ...NAME, cell: ({ name }) => name },
  count('TURNS', ({ turns }) => turns),
  count('ATTEMPTS', ({ attempts }) => attempts),
  length('HELD', 2, ({ heldMs }) => heldMs),
  ...WAITED,
]

const STREAM_COLUMNS: readonly LabColumn<StreamWorker>[] = [
  { ...NAME, cell: ({ name, killed }) => (killed ? { text: `${name} ✗ killed`, style: 'warn' } : name) },
  count('EVENTS', ({ events }) => events),
  count('CHANGES', ({ changes }) => changes),
  count('RACES LOST', ({ racesLost }) => racesLost),
  ...WAITED,
  length('ENDED', 2, ({ endedMs }) => endedMs),
]

function waitedLines(workers: readonly Waiting[], { paint, width }: TextOptions): string[] {
  return histogramLines(histogramOf(workers.flatMap(({ waitsMs }) => waitsMs)), paint, width)
}

function fairnessText(fairness: number, of: string): string {
  return `fairness ${fairness.toFixed(2)} (Jain's index of ${of} per process)`
}

function verdict(faults: readonly string[], good: string, { paint }: TextOptions): string[] {
  if (faults.length === 0) return [paint('good', `✓ ${good}`)]
  const more = faults.length > MOST_FAULTS ? [`and ${faults.length - MOST_FAULTS} more`] : []
  return [...faults.slice(0, MOST_FAULTS), ...more].map(fault => paint('bad', `✗ ${fault}`))
}

/** Columns if stdout is not a terminal. */
const USUAL_WIDTH = 72
const LEAST_BAR = 8
const PARTS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const

/** A bar chart of durations: one bar per bin (up to 1, 2, 5, 10, … ms) with values; the most frequent bin has the longest bar. */
export function histogramLines(histogram: LogHistogram, paint: Paint, width = USUAL_WIDTH): string[] {
  const bins = binsOf(histogram)
  const most = Math.max(0, ...bins.map(({ count }) => count))
  const labels = bins.map(({ toMs }) => `≤ ${shortLength(toMs)}`)
  const labelWidth = Math.max(0, ...labels.map(label => label.length))
  const countWidth = countText(most).length
  const room = Math.max(LEAST_BAR, Math.min(width, USUAL_WIDTH) - labelWidth - countWidth - 4)
  return bins.map(({ count }, at) => {
    const label = (labels[at] ?? '').padStart(labelWidth)
    return `${label}  ${countText(count).padStart(countWidth)}  ${paint('active', bar((count / most) * room))}`
  })
}

/** A bar with a resolution of an eighth of a column, and at least that long. */
function bar(columns: number): string {
  const eighths = Math.max(1, Math.round(columns * 8))
  return '█'.repeat(Math.floor(eighths / 8)) + (PARTS[eighths % 8] ?? '')
}

import type { Transaction } from '../../stream/journal/journal.ts'
import { type EventHistory, phasesOf } from '../../stream/journal/phases.ts'
import { visibleText } from '../../util/visible-text.ts'
import { noPaint, type Paint } from '../terminal/style.ts'
import { cut, pad, padLeft, widthOf } from '../terminal/width.ts'
import { foldsOf, quietTimes } from './folded-time.ts'
import type { HeaderOptions } from './header.ts'
import { barLegend, spentText, type TimeScale, timeAxis, timeBar, withFolds } from './time-scale.ts'
import { rowStatus, type TreeRow } from './tree.ts'
import type { ShownStream } from './view.ts'

/** Width where stdout is not a terminal. */
const USUAL_WIDTH = 100
const GAP = '  '
/** Columns for the time ready and the time running. */
const SPENT = 6

/**
 * A bar over time for each row: when its event was ready, running, waiting, and how it ended. Next to it the total time
 * ready and running. The times are above; the last line is the legend.
 *
 * @param transactions those up to the displayed version, oldest first
 */
export function timeline(
  shown: ShownStream,
  rows: readonly TreeRow[],
  transactions: readonly Transaction[],
  options: HeaderOptions,
): string[] {
  const paint = options.paint ?? noPaint
  const histories = phasesOf(shown.stream.events, transactions, shown.time)
  const drawn = rows.map(row => ({ ...row, label: labelOf(row), status: rowStatus(row) }))
  const widths = widthsOf(drawn, options.width)
  const period = timeOf(extentOf(histories.values()), shown.nowMs)
  const folds = foldsOf(period, quietTimes(histories.values()), shown.nowMs)
  const scale = withFolds({ ...period, columns: widths.bar }, folds)
  const title = [
    pad('EVENT', widths.label),
    pad(timeAxis(scale, options.time), widths.bar),
    pad('STATUS', widths.status),
    padLeft('READY', SPENT),
    padLeft('RAN', SPENT),
  ]
  const lines = drawn.map(row => {
    const history = row.event === undefined || row.again ? undefined : histories.get(row.event.id)
    return line(row, history, { shown, scale, widths, paint })
  })
  return [
    paint('dim', title.join(GAP)),
    ...lines,
    '',
    ...barLegend(histories.values(), options.width ?? USUAL_WIDTH, paint),
  ]
}

/** A row with its label and status. */
interface DrawnRow extends TreeRow {
  readonly label: string
  readonly status: ReturnType<typeof rowStatus>
}

interface Widths {
  readonly label: number
  readonly bar: number
  readonly status: number
}

const LEAST_BAR = 24

/** On a terminal labels are cut in favour of the bars; elsewhere nothing is cut. */
function widthsOf(rows: readonly DrawnRow[], width: number | undefined): Widths {
  let status = 'STATUS'.length
  let label = 'EVENT'.length
  for (const row of rows) {
    status = Math.max(status, widthOf(row.status.text))
    label = Math.max(label, widthOf(row.label))
  }
  const rest = (width ?? USUAL_WIDTH) - status - 2 * SPENT - 4 * GAP.length
  if (width === undefined) return { label, status, bar: Math.max(2 * LEAST_BAR, rest - label) }
  const fitted = Math.min(label, Math.max(12, Math.floor(rest / 2), rest - 2 * LEAST_BAR))
  return { label: fitted, status, bar: Math.max(LEAST_BAR / 2, rest - fitted) }
}

/** The period covered by events. Without any, `fromMs` is after `lastMs`. */
export interface Extent {
  readonly fromMs: number
  /** The last known end. */
  readonly lastMs: number
  /** An event is still open. */
  readonly isOpen: boolean
}

/** From the first known time to the last. */
export function extentOf(histories: Iterable<EventHistory>): Extent {
  let fromMs = Number.POSITIVE_INFINITY
  let lastMs = Number.NEGATIVE_INFINITY
  let isOpen = false
  for (const { spans, ends } of histories) {
    for (const part of spans) {
      fromMs = Math.min(fromMs, part.fromMs)
      lastMs = Math.max(lastMs, part.toMs ?? lastMs)
      isOpen ||= part.toMs === undefined
    }
    for (const { atMs } of ends) {
      fromMs = Math.min(fromMs, atMs)
      lastMs = Math.max(lastMs, atMs)
    }
  }
  return { fromMs, lastMs, isOpen }
}

/** From the first known time to now, or to the last end if no event is open. */
export function timeOf({ fromMs, lastMs, isOpen }: Extent, nowMs: number): Pick<TimeScale, 'fromMs' | 'toMs'> {
  const toMs = isOpen ? Math.max(lastMs, nowMs) : lastMs
  return fromMs > toMs ? { fromMs: nowMs, toMs: nowMs } : { fromMs, toMs }
}

interface LineContext {
  readonly shown: ShownStream
  readonly scale: TimeScale
  readonly widths: Widths
  readonly paint: Paint
}

function line(row: DrawnRow, history: EventHistory | undefined, { shown, scale, widths, paint }: LineContext): string {
  const { label, status } = row
  const word = status.style === 'plain' ? status.text : paint(status.style, status.text)
  const cells = [
    pad(cut(label, widths.label), widths.label),
    history === undefined ? ' '.repeat(scale.columns) : timeBar(history, scale, shown.nowMs, paint),
    word + ' '.repeat(widths.status - widthOf(status.text)),
    padLeft(history === undefined ? '' : spentText(history, 'ready', shown.nowMs), SPENT),
    padLeft(history === undefined ? '' : spentText(history, 'running', shown.nowMs), SPENT),
  ]
  return cells.join(GAP).trimEnd()
}

function labelOf({ lines, id, event, below }: TreeRow): string {
  const name = event === undefined ? '' : ` ${visibleText(event.name)}`
  return `${lines}${visibleText(id)}${name}${below === undefined ? '' : ` (+${visibleText(below)})`}`
}

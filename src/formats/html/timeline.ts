import type { Transaction } from '../../stream/journal/journal.ts'
import { type EventHistory, type Period, type Phase, phasesOf } from '../../stream/journal/phases.ts'
import { visibleText } from '../../util/visible-text.ts'
import type { HeaderOptions } from '../stream/header.ts'
import { barSigns, PHASES, spentText, timeTicks } from '../stream/time-scale.ts'
import { extentOf, timeOf } from '../stream/timeline.ts'
import { rowStatus, type TreeRow } from '../stream/tree.ts'
import { eventDueMs, type ShownStream } from '../stream/view.ts'
import { clock, span } from '../terminal/numbers.ts'
import { styleOf } from '../terminal/style.ts'
import { cellMarkup } from './cell.ts'
import { html, type Markup } from './markup.ts'

/** Columns of the axis: with as many, the texts of the ticks have room on a telephone. */
const AXIS_COLUMNS = 52

/** The period of a chart, and how it writes times. */
interface Chart {
  readonly fromMs: number
  readonly toMs: number
  readonly nowMs: number
  readonly time: HeaderOptions['time']
}

/** A bar over time for each row: when its event was ready, running, waiting, how each attempt ended, and when it is due. */
export function timelineMarkup(
  shown: ShownStream,
  rows: readonly TreeRow[],
  transactions: readonly Transaction[],
  { time }: HeaderOptions,
): Markup {
  const histories = phasesOf(shown.stream.events, transactions, shown.time)
  const chart = chartOf(shown, rows, histories, time)
  const grid = timeTicks({ ...chart, columns: AXIS_COLUMNS }, time)
  const lines = [
    ...grid.map(({ ms }) => vertical(chart, ms, 'tick')),
    ...(chart.nowMs < chart.toMs ? [vertical(chart, chart.nowMs, 'now')] : []),
  ]
  const roomy = grid.filter(({ column, text }) => column + text.length < AXIS_COLUMNS)
  const labels = roomy.map(({ ms, text }) => html`<text x="${percent(chart, ms)}" y="14" dx="3">${text}</text>`)
  const items = rows.map(row => {
    const history = row.event === undefined || row.again ? undefined : histories.get(row.event.id)
    return rowMarkup(shown, row, history, chart, lines)
  })
  return html`<div class="axis" aria-hidden="true"><span></span><svg>${lines}${labels}</svg><span></span></div>
<ol class="bars">
${items}</ol>
${legend(histories.values())}`
}

/** A due time up to this share beyond the end of the period is inside the chart. */
const DUE_SHARE = 0.5

function chartOf(
  shown: ShownStream,
  rows: readonly TreeRow[],
  histories: ReadonlyMap<string, EventHistory>,
  time: HeaderOptions['time'],
): Chart {
  const { fromMs, toMs } = timeOf(extentOf(histories.values()), shown.nowMs)
  const most = toMs + (toMs - fromMs) * DUE_SHARE
  let lastMs = toMs
  for (const { event } of rows) {
    const due = event && eventDueMs(shown, event)
    if (due !== undefined && due <= most) lastMs = Math.max(lastMs, due)
  }
  return { fromMs, toMs: lastMs, nowMs: shown.nowMs, time }
}

function rowMarkup(
  shown: ShownStream,
  row: TreeRow,
  history: EventHistory | undefined,
  chart: Chart,
  lines: readonly Markup[],
): Markup {
  const { event, id } = row
  const name = event === undefined ? '' : ` ${visibleText(event.name)}`
  const due = event === undefined || row.again ? undefined : eventDueMs(shown, event)
  const status = rowStatus(row)
  return html`<li><span class="what"><span><span class="lines" aria-hidden="true">${row.lines}</span><span class="id">${id}</span>${name}</span> ${cellMarkup(status)}</span>${
    history === undefined ? html`<svg aria-hidden="true"></svg>` : barMarkup(history, due, chart, lines)
  }<span class="spent">${spent(history, shown.nowMs)}</span></li>
`
}

function barMarkup(history: EventHistory, due: number | undefined, chart: Chart, lines: readonly Markup[]): Markup {
  const told = [
    ...history.spans.map(part => periodText(part, chart)),
    ...history.ends.map(end => endText(end, chart)),
    ...(due === undefined ? [] : [`due ${timeAt(chart, due)}`]),
  ].join(', ')
  const isInside = due !== undefined && due >= chart.fromMs && due <= chart.toMs
  return html`<svg role="img" aria-label="${told}">${lines}${history.spans.map(part => periodMarkup(part, chart, html`<title>${periodText(part, chart)}</title>`))}${
    isInside
      ? html`<line class="due" x1="${percent(chart, due)}" x2="${percent(chart, due)}" y2="18"><title>due ${timeAt(chart, due)}</title></line>`
      : undefined
  }${history.ends.map(end => endMarkup(end, chart))}</svg>`
}

/** Each phase has its own form, so that bars are readable without colour. */
function periodMarkup(part: Period, chart: Chart, title?: Markup): Markup {
  const { fromMs, toMs = chart.nowMs, phase } = part
  const from = percent(chart, fromMs)
  const width = `${share(chart, toMs) - share(chart, fromMs)}%`
  switch (phase) {
    case 'running':
      return html`<rect class="running" x="${from}" y="3.5" width="${width}" height="11">${title}</rect>`
    case 'ready':
      return html`<rect class="ready" x="${from}" y="5.5" width="${width}" height="7">${title}</rect>`
    case 'waiting':
    case 'gated':
    case 'unrecorded':
      return html`<line class="${phase}" x1="${from}" x2="${percent(chart, toMs)}" y1="9" y2="9">${title}</line>`
    default:
      return phase satisfies never
  }
}

type End = EventHistory['ends'][number]

function endMarkup(end: End, chart: Chart): Markup {
  const { glyph, style } = styleOf(end.status)
  const at = share(chart, end.atMs)
  return html`<text class="end ${style}" x="${at}%" y="13.5" text-anchor="${at > 96 ? 'end' : at < 4 ? 'start' : 'middle'}">${glyph}<title>${endText(end, chart)}</title></text>`
}

function endText({ status, atMs }: End, chart: Chart): string {
  return `${visibleText(status)} ${timeAt(chart, atMs)}`
}

function periodText({ phase, fromMs, toMs }: Period, chart: Chart): string {
  const length = span((toMs ?? chart.nowMs) - fromMs)
  return `${PHASES[phase].word} ${length} from ${timeAt(chart, fromMs)}${toMs === undefined ? ' until now' : ''}`
}

function timeAt({ nowMs, time, fromMs }: Chart, ms: number): string {
  return time === 'relative' ? `${span(ms - fromMs)} after the start` : clock(ms, nowMs, time)
}

function spent(history: EventHistory | undefined, nowMs: number): string {
  if (history === undefined) return ''
  const texts = (['ready', 'running'] as const).map(phase => [phase, spentText(history, phase, nowMs)] as const)
  return texts
    .flatMap(([phase, text]) => (text === '-' ? [] : [`${phase === 'running' ? 'ran' : phase} ${text}`]))
    .join(' · ')
}

/** The place of a time, in percent with two digits. */
function share({ fromMs, toMs }: Chart, ms: number): number {
  if (toMs <= fromMs) return 0
  const part = Math.min(1, Math.max(0, (ms - fromMs) / (toMs - fromMs)))
  return Math.round(part * 10_000) / 100
}

function percent(chart: Chart, ms: number): string {
  return `${share(chart, ms)}%`
}

function vertical(chart: Chart, ms: number, kind: string): Markup {
  const x = percent(chart, ms)
  return html`<line class="${kind}" x1="${x}" x2="${x}" y2="100%"/>`
}

/** Pictures of the forms with their words. */
function legend(histories: Iterable<EventHistory>): Markup {
  const chart: Chart = { fromMs: 0, toMs: 1, nowMs: 1, time: 'utc' }
  const signs = barSigns(histories).map(({ glyph, style, word }) => {
    const phase = (Object.keys(PHASES) as Phase[]).find(each => PHASES[each].word === word)
    const picture =
      phase === undefined
        ? html`<text class="end ${style}" x="50%" y="13.5" text-anchor="middle">${glyph}</text>`
        : periodMarkup({ phase, fromMs: 0, toMs: 1 }, chart)
    return html`<li><svg aria-hidden="true">${picture}</svg>${word}</li>`
  })
  return html`<ul class="legend">${signs}<li><svg aria-hidden="true"><line class="due" x1="50%" x2="50%" y2="18"/></svg>due</li></ul>
`
}

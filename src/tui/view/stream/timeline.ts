import { barPieces, columnOf, spentText, type TimeScale, timeAxis } from '../../../formats/stream/time-scale.ts'
import { eventDueMs, type ShownStream } from '../../../formats/stream/view.ts'
import type { StreamView } from '../../../ops/read-stream.ts'
import { isFinal } from '../../../stream/event.ts'
import { wakeMs } from '../../../stream/gate.ts'
import type { EventHistory } from '../../../stream/journal/phases.ts'
import { claimEndMs } from '../../../stream/time/deadlines.ts'
import type { OpenStream } from '../../data/types.ts'
import type { Scene } from '../../state/context.ts'
import { layoutOf, WIDE_COLUMNS } from '../../state/layout.ts'
import { shownOf } from '../../state/shown-stream.ts'
import { historiesOf, timelineScale } from '../../state/timeline.ts'
import { noDocument } from '../empty.ts'
import { type Area, cell, filled, rowOf, type ScreenRow, type StyledText } from '../row.ts'
import { dueSpan } from '../times.ts'
import { listWindow } from '../window.ts'
import { type LabelContext, labelContext, labelSpans } from './label.ts'
import { openOf } from './open.ts'
import { claimsOf, legendRows } from './timeline-legend.ts'
import { nodeHighlight, statusSpan } from './tree.ts'
import { type VisibleNode, visibleNodes } from './visible-nodes.ts'

/**
 * A bar over time for each visible event, below a time axis. There is room after now for limits that end soon; the last
 * row is a legend if there are enough rows.
 */
export function timelineRows(scene: Scene, area: Area): ScreenRow[] {
  const open = openOf(scene)
  const shown = shownOf(open, scene.nowMs)
  if (open?.view === undefined || shown === undefined) return filled(noDocument(scene, area), area)
  const context = contextFor(scene, open, shown, open.view, area.columns)
  const titles = layoutOf(scene.state).titles > 0 ? [titleRow(context)] : []
  const free = area.rows - titles.length
  const cursor = visibleNodes(scene, open, listWindow(scene, 1)).find(({ isCursor }) => isCursor)
  const event = cursor?.node.again ? undefined : cursor?.event
  const legend = area.rows >= LEAST_FOR_LEGEND ? legendRows(scene, open.view, { event, shown }, area) : []
  const room = Math.max(0, free - legend.length)
  const rows = visibleNodes(scene, open, listWindow(scene, room)).map(item => barRow(item, context))
  return filled([...titles, ...filled(rows, { columns: area.columns, rows: room }), ...legend], area)
}

const LEAST_FOR_LEGEND = 12

interface TimelineContext {
  readonly labels: LabelContext
  readonly open: OpenStream
  readonly shown: ShownStream
  readonly histories: ReturnType<typeof historiesOf>
  readonly claims: ReturnType<typeof claimsOf>
  readonly time: Scene['state']['time']
  readonly width: number
  readonly label: number
  readonly scale: TimeScale
  /** Columns after the bar. */
  readonly behind: readonly Behind[]
}

type Behind = 'status' | 'due' | 'ran'
const BEHIND: { readonly [Of in Behind]: { readonly title: string; readonly width: number } } = {
  status: { title: 'STATUS', width: 13 },
  due: { title: 'DUE', width: 11 },
  ran: { title: 'RAN', width: 6 },
}

const GAP = 2

function contextFor(
  scene: Scene,
  open: OpenStream,
  shown: ShownStream,
  view: StreamView,
  width: number,
): TimelineContext {
  const histories = historiesOf(view)
  const claims = claimsOf(view)
  const behind: Behind[] = width >= WIDE_COLUMNS ? ['status', 'due', 'ran'] : width >= 60 ? ['due'] : []
  const taken = behind.reduce((sum, id) => sum + BEHIND[id].width + GAP, 0)
  const label = Math.max(11, Math.min(44, Math.floor((width - taken) * 0.4)))
  const columns = Math.max(1, width - 1 - label - GAP - taken)
  const scale = timelineScale(histories, scene.state.zoom, shown.nowMs, columns)
  return {
    labels: labelContext(scene, open),
    open,
    shown,
    histories,
    claims,
    time: scene.state.time,
    width,
    label,
    scale,
    behind,
  }
}

function titleRow({ label, scale, time, behind, width, shown, histories }: TimelineContext): ScreenRow {
  const others = behind.map(
    id => `${' '.repeat(GAP)}${cell(BEHIND[id].title, BEHIND[id].width, 'dim', alignOf(id))[0]}`,
  )
  const gap = ' '.repeat(GAP)
  const axis = withNow(timeAxis(scale, time), scale, histories.extent.isOpen ? shown.nowMs : undefined)
  return rowOf([[` ${cell('  EVENT', label)[0]}${gap}${axis}${others.join('')}`, 'dim']], width)
}

const NOW = '┃now'

/** The axis with a mark at now, if that is inside, overwriting other ticks. */
function withNow(axis: string, scale: TimeScale, nowMs: number | undefined): string {
  const line = axis.padEnd(scale.columns)
  if (nowMs === undefined || nowMs > scale.toMs || nowMs < scale.fromMs || scale.columns < 3 * NOW.length) return line
  const at = Math.min(columnOf(scale, nowMs), scale.columns - NOW.length)
  const before = line.slice(0, at).replace(/│[^│ ]*$/, text => ' '.repeat(text.length))
  return `${before}${NOW}${line.slice(at + NOW.length).replace(/^[^│]*/, text => ' '.repeat(text.length))}`
}

function barRow(item: VisibleNode, context: TimelineContext): ScreenRow {
  const { node, event, isCursor } = item
  const history = event === undefined || node.again ? undefined : context.histories.of.get(event.id)
  const spans: StyledText[] = [
    [isCursor ? '›' : ' ', 'plain'],
    ...labelSpans(item, context.labels, context.label),
    [' '.repeat(GAP), 'plain'],
  ]
  spans.push(...barSpans(item, history, context))
  for (const id of context.behind) {
    const [text, style] = behindSpan(id, item, history, context)
    spans.push([' '.repeat(GAP), 'plain'], cell(text, BEHIND[id].width, style, alignOf(id)))
  }
  return rowOf(spans, context.width, nodeHighlight(item))
}

function barSpans(
  { event, node, group }: VisibleNode,
  history: EventHistory | undefined,
  { shown, scale, claims }: TimelineContext,
): readonly StyledText[] {
  if (group !== undefined) return [cell('', scale.columns)]
  if (event === undefined) return [cell('? missing', scale.columns, 'warn')]
  if (node.again) return [cell('↑ see above', scale.columns, 'dim')]
  if (history === undefined) return [cell('', scale.columns)]
  const isRunning = !isFinal(event)
  return barPieces(history, scale, shown.nowMs, {
    dueMs: eventDueMs(shown, event),
    wakeMs: wakeMs(event),
    claimEndMs: isRunning ? claimEndMs(event) : undefined,
    claims: claims.of.get(event.id) ?? [],
  })
}

function behindSpan(
  id: Behind,
  { event, node }: VisibleNode,
  history: EventHistory | undefined,
  context: TimelineContext,
): StyledText {
  if (event === undefined || node.again) return ['', 'plain']
  const { shown, time } = context
  switch (id) {
    case 'status':
      return statusSpan(event, { shown, columns: [] })
    case 'due': {
      const ms = eventDueMs(shown, event)
      return ms === undefined ? ['', 'plain'] : dueSpan(ms, { nowMs: shown.nowMs, time })
    }
    case 'ran':
      return [history === undefined ? '' : spentText(history, 'running', shown.nowMs), 'plain']
    default:
      return id satisfies never
  }
}

function alignOf(id: Behind): 'left' | 'right' {
  return id === 'status' ? 'left' : 'right'
}

import { foldsOf, lengthOf, type QuietTimes, quietTimes, type TimeRange } from '../../formats/stream/folded-time.ts'
import { positionOf, type TimeScale, timeAt, withFolds } from '../../formats/stream/time-scale.ts'
import { type Extent, extentOf, timeOf } from '../../formats/stream/timeline.ts'
import type { StreamView } from '../../ops/read-stream.ts'
import { type EventHistory, phasesOf } from '../../stream/journal/phases.ts'
import { cached } from '../cached.ts'
import type { OpenStream } from '../data/types.ts'
import type { ScreenContext } from './context.ts'
import { cursorKey, openStreamOf } from './cursor.ts'
import { clockOf } from './shown-stream.ts'
import type { State } from './state.ts'
import { clamp, withNotice } from './transition.ts'

/** The histories of all events of a stream. */
interface EventHistories {
  readonly of: ReadonlyMap<string, EventHistory>
  readonly extent: Extent
  readonly quiet: QuietTimes
}

/** Cached per view: computing them scans the whole journal. */
export const historiesOf = cached((view: StreamView): EventHistories => {
  const of = phasesOf(view.stream.events, view.transactions(), view.time)
  return { of, extent: extentOf(of.values()), quiet: quietTimes(of.values()) }
})

/** While events are open, one part in this many lies after now. */
const AHEAD = 5

/** The scale of the timeline: of the zoomed period, else from the first event to the last, or beyond now. */
export function timelineScale(
  histories: EventHistories,
  zoom: State['zoom'],
  nowMs: number,
  columns: number,
): TimeScale {
  const { extent, quiet } = histories
  const whole = timeOf(extent, nowMs)
  const period = zoom ?? whole
  const folds = foldsOf(period, quiet, nowMs)
  const busyMs = lengthOf(period) - folds.reduce((sum, fold) => sum + lengthOf(fold), 0)
  // Limits that end soon have room.
  const aheadMs = zoom === undefined && extent.isOpen ? Math.ceil(busyMs / (AHEAD - 1)) : 0
  return withFolds({ ...period, toMs: period.toMs + aheadMs, columns, originMs: whole.fromMs }, folds)
}

/** Keys zoom and pan in parts of the whole, in which folded gaps take little room. */
const PARTS = 1_000
const LEAST_MS = 1_000

/** `+` and `-`: half or double the period, around the cursor's event if it is in sight. */
export function zoomBy(state: State, context: ScreenContext, factor: number): State {
  const shown = shownPart(state, context)
  if (shown === undefined) return state
  const { whole, from, to, open } = shown
  const width = (to - from) * factor
  if (width >= PARTS) return { ...state, zoom: undefined }
  if (timeAt(whole, from + width) - timeAt(whole, from) < LEAST_MS && factor < 1) {
    return withNotice(state, context, 'no shorter period can be shown')
  }
  const middle = factor < 1 ? (cursorPosition(state, context, open, whole) ?? (from + to) / 2) : (from + to) / 2
  return withPart(state, whole, middle - width / 2, width)
}

/** `[` and `]`: a quarter of the period earlier or later. */
export function panBy(state: State, context: ScreenContext, direction: 1 | -1): State {
  const shown = shownPart(state, context)
  if (shown === undefined) return state
  if (state.zoom === undefined) return withNotice(state, context, 'everything is shown: + zooms in')
  const { whole, from, to } = shown
  return withPart(state, whole, from + (direction * (to - from)) / 4, to - from)
}

function withPart(state: State, whole: TimeScale, from: number, width: number): State {
  const inside = clamp(from, 0, PARTS - width)
  return { ...state, zoom: { fromMs: timeAt(whole, inside), toMs: timeAt(whole, inside + width) } }
}

interface ShownPart {
  readonly open: OpenStream
  readonly whole: TimeScale
  readonly from: number
  readonly to: number
}

function shownPart(state: State, context: ScreenContext): ShownPart | undefined {
  const open = openStreamOf(state, context)
  if (open?.view === undefined) return undefined
  const whole = timelineScale(historiesOf(open.view), undefined, clockOf(open, context.nowMs), PARTS)
  const { zoom = whole } = state
  return { open, whole, from: positionOf(whole, zoom.fromMs), to: positionOf(whole, zoom.toMs) }
}

/** The middle of the latest work on the cursor's event, or of its latest time. */
function cursorPosition(
  state: State,
  context: ScreenContext,
  { view, nodes }: OpenStream,
  whole: TimeScale,
): number | undefined {
  const key = cursorKey(state, context)
  const id = nodes.find(node => node.key === key)?.id
  const history = view === undefined || id === undefined ? undefined : historiesOf(view).of.get(id)
  const range = history && rangeOf(history, context.nowMs)
  return range && (positionOf(whole, range.fromMs) + positionOf(whole, range.toMs)) / 2
}

function rangeOf({ spans, ends }: EventHistory, nowMs: number): TimeRange | undefined {
  const last = spans.findLast(({ phase }) => phase === 'running') ?? spans.at(-1)
  const fromMs = last?.fromMs ?? ends.at(-1)?.atMs
  return fromMs === undefined ? undefined : { fromMs, toMs: last === undefined ? fromMs : (last.toMs ?? nowMs) }
}

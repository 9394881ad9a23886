import { holderOrLast } from '../../../formats/lease.ts'
import { stateStyle, streamStateOf } from '../../../formats/listing/health.ts'
import { idsText } from '../../../formats/stream/view.ts'
import { calmSpan, spacedCount, spacedCounted } from '../../../formats/terminal/numbers.ts'
import { cut, cutInside, widthOf } from '../../../formats/terminal/width.ts'
import { isFinal } from '../../../stream/event.ts'
import type { EventStream } from '../../../stream/event-stream.ts'
import { isHeld } from '../../../stream/lease.ts'
import { cutCount, type Summary } from '../../../stream/summary.ts'
import { cached } from '../../cached.ts'
import type { OpenStream } from '../../data/types.ts'
import type { Scene } from '../../state/context.ts'
import { clockOf } from '../../state/shown-stream.ts'
import { barOf, joined, rowOf, type ScreenRow, type StyledText, widthOfSpans } from '../row.ts'
import { safeText } from '../safe-text.ts'
import { endedMs, failureSpans } from '../stream-cells.ts'
import { agoText, clockOnly, clockText, dueSpan, pastText, type RowTime, tookSpan } from '../times.ts'
import { openOf } from './open.ts'

const GAP = '  '

/** One line about the open stream: name, status, age, waiting, failures, due time, lease. */
export function streamHeader(scene: Scene): ScreenRow {
  const width = scene.state.size.columns
  const open = openOf(scene)
  return rowOf([[' ', 'plain'], ...headerSpans(scene, open, width - 1)], width)
}

function headerSpans(scene: Scene, open: OpenStream | undefined, width: number): StyledText[] {
  if (scene.state.stream === '') return [['no stream is open', 'dim']]
  if (open === undefined) return [['reading…', 'dim']]
  switch (open.presence) {
    case 'waiting':
      return [['reading…', 'dim']]
    case 'missing':
      return [['no stream has this name yet; waiting for it', 'warn']]
    case 'unreadable':
      return unreadableSpans(scene, open)
    case 'gone':
      return [...goneSpans(scene, open), [GAP, 'plain'], ...stateSpans(scene, open, width)]
    case 'there':
      return stateSpans(scene, open, width)
    default:
      return open.presence satisfies never
  }
}

function unreadableSpans(scene: Scene, { fault, view }: OpenStream): StyledText[] {
  const { code, message } = fault ?? { code: 'bad-document', message: 'unknown reason' }
  const at = view === undefined ? '' : `, shown as of ${clockText(view.nowMs, clockOnly(momentOf(scene)))}`
  return [
    [`? cannot be read (${safeText(code)})`, 'bad'],
    [`${at}: `, 'plain'],
    [safeText(message), 'plain'],
  ]
}

function goneSpans(scene: Scene, { goneMs }: OpenStream): StyledText[] {
  const at = goneMs === undefined ? '' : ` ${clockText(goneMs, clockOnly(momentOf(scene)))}`
  return [[`was removed${at}; this is its last state`, 'warn']]
}

/** The most important parts come first; workers and ids of open events take the remaining width. */
function stateSpans(scene: Scene, open: OpenStream, width: number): StyledText[] {
  const { summary } = open
  if (summary === undefined) return [['no events yet', 'dim']]
  const name = cutInside(safeText(summary.root), Math.max(8, Math.floor(width / 3)))
  const before: StyledText[][] = [[[name, 'strong']], statusSpans(scene, open, summary), ageSpans(scene, open, summary)]
  const failures = [...failureSpans(summary)]
  const after: StyledText[][] = [
    suspensionSpans(scene, open, summary),
    dueSpans(scene, open, summary),
    leaseSpans(scene, open, summary),
  ]
  const roomBeside = (parts: readonly StyledText[][]) => width - widthOfSpans(joined(parts, GAP)) - GAP.length
  const progress = progressSpans(summary, roomBeside([...before, failures, ...after]))
  const workers = workersSpans(open, roomBeside([...before, progress, failures, ...after]))
  const room = roomBeside([...before, progress, failures, workers, ...after])
  return joined([...before, progress, failures, workers, waitsOn(summary, room), ...after], GAP)
}

const BAR_COLUMNS = 12

/** A bar of what has ended, and the numbers; without room the numbers alone. */
function progressSpans({ open, total }: Summary, room: number): StyledText[] {
  const numbers = `${spacedCount(total - open)}/${spacedCount(total)}`
  if (total < 2 || widthOf(numbers) > room) return []
  if (widthOf(numbers) + 1 + BAR_COLUMNS > room) return [[numbers, 'plain']]
  return [
    [barOf(total - open, total, BAR_COLUMNS), 'active'],
    [` ${numbers}`, 'plain'],
  ]
}

/** Who suspended it, when and why. */
function suspensionSpans(scene: Scene, open: OpenStream, summary: Summary): StyledText[] {
  const { suspendedMs, suspendedBy, suspendedWhy } = summary
  if (suspendedMs === undefined) return []
  const when = agoText(suspendedMs, momentOf(scene, open))
  const who = suspendedBy === '' ? '' : ` by ${suspendedBy}`
  const why = suspendedWhy === '' ? '' : `: ${suspendedWhy}`
  return [[cut(safeText(`${when}${who}${why}`), LEASE_COLUMNS), 'warn']]
}

/** How many have an event in hand. */
function workersSpans({ view }: OpenStream, room: number): StyledText[] {
  const count = view === undefined ? 0 : ownersOf(view.stream).size
  const text = spacedCounted(count, 'worker')
  return count === 0 || widthOf(text) > room ? [] : [[text, 'plain']]
}

const ownersOf = cached(
  ({ events }: EventStream): ReadonlySet<string> =>
    new Set(events.flatMap(event => (isFinal(event) ? [] : (event.lc.owner ?? [])))),
)

/** The state as in the list of streams. */
function statusSpans(scene: Scene, open: OpenStream, summary: Summary): StyledText[] {
  const state = streamStateOf(summary, clockOf(open, scene.nowMs))
  const { glyph, style, word } = stateStyle(state)
  return [[`${glyph} ${cut(safeText(word), 20)}`, style]]
}

/** How long it has been open; of one that has ended how long it took, and when it ended. */
function ageSpans(scene: Scene, open: OpenStream, summary: Summary): StyledText[] {
  const { createdMs } = summary
  if (createdMs === undefined) return []
  const ended = open.listed && endedMs(summary, open.listed.modifiedMs)
  if (ended !== undefined) {
    return [[`took ${tookSpan(ended - createdMs)}, ended ${pastText(ended, momentOf(scene, open))}`, 'plain']]
  }
  const text = agoText(createdMs, momentOf(scene, open))
  return [[scene.state.time === 'relative' ? text : `since ${text}`, 'plain']]
}

function dueSpans(scene: Scene, open: OpenStream, { dueMs }: Summary): StyledText[] {
  if (dueMs === undefined) return []
  const moment = momentOf(scene, open)
  const [text, style] = dueSpan(dueMs, moment)
  if (style === 'plain') return [[`due ${text}`, style]]
  const { nowMs, time } = moment
  return [[time === 'relative' ? `overdue ${calmSpan(nowMs - dueMs)}` : `overdue ${text}`, style]]
}

function momentOf({ state, nowMs }: Scene, open?: OpenStream): RowTime {
  return { nowMs: open === undefined ? nowMs : clockOf(open, nowMs), time: state.time }
}

/** Wide enough for the holder and its age; a longer purpose is cut. */
const LEASE_COLUMNS = 48

function leaseSpans({ nowMs }: Scene, { listed }: OpenStream, summary: Summary): StyledText[] {
  const lease = listed?.lease
  if (lease === undefined || !isHeld(lease)) return []
  const holder = holderOrLast(lease, nowMs, summary.lastBy)
  return [[cut(`${lease.state}${lease.holder === undefined ? ',' : ' by'} ${safeText(holder)}`, LEASE_COLUMNS), 'warn']]
}

/** The tree shows all of them. */
const MOST_IDS = 3

/** A few ids, and the number of the others. */
function waitsOn({ waitingOn, status }: Summary, room: number): StyledText[] {
  const named = waitingOn.filter(id => cutCount(id) === 0).length
  if (named === 0 || isEnded(status)) return []
  for (let most = Math.min(named, MOST_IDS); most > 0; most--) {
    const text = `waits on ${safeText(idsText(waitingOn, most))}`
    if (widthOf(text) <= room) return [[text, 'plain']]
  }
  const count = `waits on ${idsText(waitingOn, 0).slice(' +'.length)}`
  return widthOf(count) <= room ? [[count, 'plain']] : []
}

function isEnded(status: string): boolean {
  return status === 'completed' || status === 'aborted' || status === 'canceled'
}

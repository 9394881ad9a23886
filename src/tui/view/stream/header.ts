import { holderOrLast } from '../../../formats/lease.ts'
import { stateStyle, streamStateOf } from '../../../formats/listing/health.ts'
import { idsText } from '../../../formats/stream/view.ts'
import { calmSpan, spacedCount, spacedCounted } from '../../../formats/terminal/numbers.ts'
import { cut, cutInside } from '../../../formats/terminal/width.ts'
import { isFinal } from '../../../stream/event.ts'
import { isHeld } from '../../../stream/lease.ts'
import { cutCount, type Summary } from '../../../stream/summary.ts'
import { everyEvent } from '../../data/every-event.ts'
import type { OpenStream } from '../../data/types.ts'
import type { Scene } from '../../state/context.ts'
import { clockOf } from '../../state/shown-stream.ts'
import { barOf, joined, rowOf, type ScreenRow, type StyledText, widthOfSpans } from '../row.ts'
import { safeId, safeText } from '../safe-text.ts'
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

/** A part of the line: its forms from long to short. */
type Forms = readonly (readonly StyledText[])[]

/** The parts in their order. The most important ones that fit, each as long as it can be. */
function stateSpans(scene: Scene, open: OpenStream, width: number): StyledText[] {
  const { summary } = open
  if (summary === undefined) return [['no events yet', 'dim']]
  const name = cutInside(safeText(summary.root), Math.max(8, Math.floor(width / 3)))
  const progress = progressForms(summary)
  const forms = {
    name: [[[name, 'strong']]],
    status: [statusSpans(scene, open, summary)],
    age: ageForms(scene, open, summary),
    progress,
    failures: [failureSpans(summary)],
    workers: [workersSpans(open)],
    waits: waitsForms(summary),
    suspension: suspensionForms(scene, open, summary),
    due: [dueSpans(scene, open, summary)],
    lease: leaseForms(scene, open, summary),
  } satisfies { readonly [part: string]: Forms }
  const chosen = new Map<string, readonly StyledText[]>()
  const room = () => width - widthOfSpans(joined([...chosen.values()], GAP)) - (chosen.size === 0 ? 0 : GAP.length)
  for (const part of BY_IMPORTANCE) {
    if (part === 'bar') {
      const numbers = chosen.get('progress')
      if (numbers !== undefined && room() + GAP.length > BAR_COLUMNS) chosen.set('progress', barSpans(summary, numbers))
      continue
    }
    const found = forms[part].find(form => form.length > 0 && widthOfSpans(form) <= room())
    if (found !== undefined) chosen.set(part, found)
  }
  return joined(
    Object.keys(forms).flatMap(part => [chosen.get(part) ?? []]),
    GAP,
  )
}

const BY_IMPORTANCE = [
  'name',
  'status',
  'progress',
  'failures',
  'due',
  'age',
  'lease',
  'suspension',
  'bar',
  'workers',
  'waits',
] as const

const BAR_COLUMNS = 12

/** How many events have ended, of all. */
function progressForms({ open, total }: Summary): Forms {
  return total < 2 ? [] : [[[`${spacedCount(total - open)}/${spacedCount(total)}`, 'plain']]]
}

function barSpans({ open, total }: Summary, numbers: readonly StyledText[]): readonly StyledText[] {
  return [[barOf(total - open, total, BAR_COLUMNS), 'active'], [' ', 'plain'], ...numbers]
}

/** Who suspended it, when and why; without room for the whole as much as fits. */
function suspensionForms(scene: Scene, open: OpenStream, summary: Summary): Forms {
  const { suspendedMs, suspendedBy, suspendedWhy } = summary
  if (suspendedMs === undefined) return []
  const when = agoText(suspendedMs, momentOf(scene, open))
  const who = suspendedBy === '' ? '' : ` by ${suspendedBy}`
  const why = suspendedWhy === '' ? '' : `: ${suspendedWhy}`
  return cutForms(safeText(`${when}${who}${why}`))
}

/** Wide enough for the holder and its age; a longer purpose is cut. */
const LONG_COLUMNS = 48
/** Shorter ones say nothing. */
const SHORT_COLUMNS = 12

function cutForms(text: string): Forms {
  return Array.from({ length: LONG_COLUMNS - SHORT_COLUMNS + 1 }, (_, at) => [[cut(text, LONG_COLUMNS - at), 'warn']])
}

/** How many have an event in hand. */
function workersSpans({ view }: OpenStream): readonly StyledText[] {
  const count = view === undefined ? 0 : everyEvent(view.stream).owners.size
  return count === 0 ? [] : [[spacedCounted(count, 'worker'), 'plain']]
}

/** The state as in the list of streams. */
function statusSpans(scene: Scene, open: OpenStream, summary: Summary): StyledText[] {
  const state = streamStateOf(summary, clockOf(open, scene.nowMs))
  const { glyph, style, word } = stateStyle(state)
  return [[`${glyph} ${cut(safeText(word), 20)}`, style]]
}

/** How long it has been open; of one that has ended how long it took, and when it ended. */
function ageForms(scene: Scene, open: OpenStream, summary: Summary): Forms {
  const { createdMs } = summary
  if (createdMs === undefined) return []
  const ended = open.listed && endedMs(summary, open.listed.modifiedMs)
  if (ended !== undefined) {
    const took = `took ${tookSpan(ended - createdMs)}`
    return [[[`${took}, ended ${pastText(ended, momentOf(scene, open))}`, 'plain']], [[took, 'plain']]]
  }
  const text = agoText(createdMs, momentOf(scene, open))
  return [[[scene.state.time === 'relative' ? text : `since ${text}`, 'plain']]]
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

function leaseForms({ nowMs }: Scene, { listed }: OpenStream, summary: Summary): Forms {
  const lease = listed?.lease
  if (lease === undefined || !isHeld(lease)) return []
  const holder = holderOrLast(lease, nowMs, summary.lastBy)
  return cutForms(`${lease.state}${lease.holder === undefined ? ',' : ' by'} ${safeText(holder)}`)
}

/** The tree shows all of them. */
const MOST_IDS = 3

/** A few ids, and the number of the others. */
function waitsForms({ waitingOn, status }: Summary): Forms {
  const named = waitingOn.filter(id => cutCount(id) === 0).length
  if (named === 0 || isFinal({ status })) return []
  const most = Math.min(named, MOST_IDS)
  const ids = waitingOn.map(safeId)
  const texts = Array.from({ length: most }, (_, at) => idsText(ids, most - at))
  const count = idsText(waitingOn, 0).slice(' +'.length)
  return [...texts, count].map(text => [[`waits on ${text}`, 'plain']])
}

import { isBroken } from '../../formats/listing/health.ts'
import { eventDueMs, shownStatus } from '../../formats/stream/view.ts'
import { isSuperseded } from '../../stream/event.ts'
import type { OpenStream } from '../data/types.ts'
import type { ChangeTarget } from '../ports.ts'
import type { ScreenContext } from './context.ts'
import { cursorKey, heightOf, openStreamOf } from './cursor.ts'
import { withNodeShown } from './folding.ts'
import { filterParser } from './lists/filter.ts'
import { EVENT_FILTER, eventText } from './lists/filters.ts'
import { activityRow } from './lists/row-target.ts'
import { shownOf } from './shown-stream.ts'
import type { Opening, State } from './state.ts'
import { listOf } from './transition.ts'

/** Where the cursor of an opened stream goes: to what the screen that opened it was about. */
export function openingFrom(
  state: State,
  context: ScreenContext,
  { stream, event }: ChangeTarget,
): Opening | undefined {
  if (event !== undefined) return { kind: 'event', id: event }
  const { filter, onlyBroken } = listOf(state)
  switch (state.screen) {
    case 'streams':
      return onlyBroken ? { kind: 'broken' } : filter === '' ? ofBroken(context, stream) : { kind: 'match', filter }
    case 'watchdog':
      return { kind: 'due' }
    case 'activity': {
      const tx = activityRow(context.data, cursorKey(state, context) ?? '')?.tx
      return tx === undefined || tx.on === '' ? undefined : { kind: 'event', id: tx.on }
    }
    default:
      return undefined
  }
}

/** A stream with a failure is opened for that. */
function ofBroken({ data, nowMs }: ScreenContext, stream: string): Opening | undefined {
  const entry = data.streams.get(stream)
  return entry !== undefined && isBroken(entry.item, nowMs) ? { kind: 'broken' } : undefined
}

/** Puts the cursor there once the stream has been read. */
export function withOpening(state: State, context: ScreenContext): State {
  const { opening } = state
  const open = openStreamOf(state, context)
  if (opening === undefined || open === undefined || open.presence === 'waiting') return state
  const next = { ...state, opening: undefined }
  const at = positionOf(opening, open, context.nowMs)
  return at === undefined ? next : withNodeShown(next, open, at, heightOf(state))
}

function positionOf(opening: Opening, open: OpenStream, nowMs: number): number | undefined {
  switch (opening.kind) {
    case 'broken':
      return firstFailure(open) ?? firstLate(open, nowMs)
    case 'due':
      return soonestDue(open, nowMs)
    case 'match':
      return firstMatch(open, opening.filter, nowMs) ?? firstFailure(open)
    case 'event':
      return found(open.nodes.findIndex(({ id }) => id === opening.id))
    default:
      return opening satisfies never
  }
}

/** The first event that was aborted: those below it were aborted with it. */
function firstFailure(open: OpenStream): number | undefined {
  return found(
    open.nodes.findIndex(({ id, again }) => {
      const event = again ? undefined : open.event(id)
      return event !== undefined && event.status === 'aborted' && !isSuperseded(event)
    }),
  )
}

/** The first event whose worker is silent, or that is past its limit. */
function firstLate(open: OpenStream, nowMs: number): number | undefined {
  const shown = shownOf(open, nowMs)
  if (shown === undefined) return undefined
  return found(
    open.nodes.findIndex(({ id, again }) => {
      const event = again ? undefined : open.event(id)
      return event !== undefined && LATE.has(shownStatus(shown, event))
    }),
  )
}

const LATE: ReadonlySet<string> = new Set(['abandoned', 'overdue'])

function soonestDue(open: OpenStream, nowMs: number): number | undefined {
  const shown = shownOf(open, nowMs)
  if (shown === undefined) return undefined
  let soonest: { readonly at: number; readonly dueMs: number } | undefined
  for (const [at, { id, again }] of open.nodes.entries()) {
    const event = again ? undefined : open.event(id)
    const dueMs = event && eventDueMs(shown, event)
    if (dueMs !== undefined && dueMs < (soonest?.dueMs ?? Number.POSITIVE_INFINITY)) soonest = { at, dueMs }
  }
  return soonest?.at
}

const parse = filterParser(EVENT_FILTER)

/** The first event that passes: a filter of streams may be about one of their events. */
function firstMatch(open: OpenStream, filter: string, nowMs: number): number | undefined {
  const wanted = parse(filter)
  if (wanted.isEmpty || wanted.fault !== undefined) return undefined
  const shown = shownOf(open, nowMs)
  const at = open.nodes.findIndex(({ id, again }) => {
    const event = again ? undefined : open.event(id)
    return event !== undefined && wanted.accepts(() => eventText(event), { event, shown }, nowMs)
  })
  return found(at)
}

function found(at: number): number | undefined {
  return at < 0 ? undefined : at
}

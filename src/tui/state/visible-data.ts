import { isFailureCut } from '../../stream/summary.ts'
import { type Data, NOTHING_VISIBLE, type VisibleData } from '../data/types.ts'
import type { Listing } from './context.ts'
import { cursorIndex, cursorKey, heightOf } from './cursor.ts'
import { layoutOf, windowTop } from './layout.ts'
import { eventOfRow } from './lists/row-target.ts'
import type { Screen, State } from './state.ts'
import { listOf } from './transition.ts'

/** The data that has to be read for the visible screen. */
export function visibleDataOf(state: State, listing: Listing, data: Data): VisibleData {
  return { ...screenData(state, listing, data), health: !layoutOf(state).isTiny }
}

function screenData(state: State, listing: Listing, data: Data): VisibleData {
  const visible = onScreen(state, listing, data)
  // The bell rings for all streams.
  return state.bell === undefined ? visible : { ...visible, streams: true }
}

function onScreen(state: State, listing: Listing, data: Data): VisibleData {
  switch (state.screen) {
    case 'stream':
      return { ...NOTHING_VISIBLE, open: state.stream === '' ? undefined : state.stream }
    case 'streams':
    case 'leases':
      return {
        ...NOTHING_VISIBLE,
        streams: true,
        unread: unreadOf(state, listing, data),
        failure: failureOf(state, listing, data),
      }
    case 'watchdog':
      return { ...NOTHING_VISIBLE, streams: true, watchdog: true, failure: ofRow(state, state.screen, data) }
    case 'activity':
      return { ...NOTHING_VISIBLE, streams: true, activity: true, failure: ofRow(state, state.screen, data) }
    case 'workers':
      return { ...NOTHING_VISIBLE, streams: true, workers: true, failure: ofRow(state, state.screen, data) }
    case 'subscriptions':
      return { ...NOTHING_VISIBLE, streams: true, subscriptions: true }
    case 'inboxes':
      return { ...NOTHING_VISIBLE, streams: true, inboxes: true }
    default:
      return state.screen satisfies never
  }
}

/** The stream in the open details, or on the whole screen, if its summary does not have its whole failure. */
function failureOf(state: State, listing: Listing, { streams }: Data): string | undefined {
  const { page, isDetailOpen } = state
  const shown =
    page?.subject.kind === 'row' ? page.subject.key : isDetailOpen ? cursorKey(state, { listing }) : undefined
  const failure = shown === undefined ? undefined : streams.get(shown)?.item.summary?.failure
  return failure !== undefined && isFailureCut(failure) ? shown : undefined
}

/** The stream of the event of a row that is on the whole screen. */
function ofRow({ page }: State, screen: Exclude<Screen, 'stream'>, data: Data): string | undefined {
  return page?.subject.kind === 'row' ? eventOfRow(screen, page.subject.key, data)?.stream : undefined
}

/** Visible rows whose documents have to be read, from the top. */
function unreadOf(state: State, listing: Listing, { streams }: Data): readonly string[] {
  const { keys } = listing
  const height = heightOf(state)
  const top = windowTop(cursorIndex(state, { listing }), listOf(state).offset, height, keys.length)
  return keys.slice(top, top + height).filter(key => streams.get(key)?.isRead === false)
}

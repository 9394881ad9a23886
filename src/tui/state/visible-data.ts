import { type Data, NOTHING_VISIBLE, type VisibleData } from '../data/types.ts'
import type { Listing } from './context.ts'
import { cursorIndex, heightOf } from './cursor.ts'
import { windowTop } from './layout.ts'
import type { State } from './state.ts'
import { listOf } from './transition.ts'

/** The data that has to be read for the visible screen. */
export function visibleDataOf(state: State, listing: Listing, data: Data): VisibleData {
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
      return { ...NOTHING_VISIBLE, streams: true, unread: unreadOf(state, listing, data) }
    case 'watchdog':
      return { ...NOTHING_VISIBLE, streams: true, watchdog: true }
    case 'activity':
      return { ...NOTHING_VISIBLE, streams: true, activity: true }
    case 'workers':
      return { ...NOTHING_VISIBLE, streams: true, workers: true }
    default:
      return state.screen satisfies never
  }
}

/** Visible rows whose documents have to be read, from the top. */
function unreadOf(state: State, listing: Listing, { streams }: Data): readonly string[] {
  const { keys } = listing
  const height = heightOf(state)
  const top = windowTop(cursorIndex(state, { listing }), listOf(state).offset, height, keys.length)
  return keys.slice(top, top + height).filter(key => streams.get(key)?.isRead === false)
}

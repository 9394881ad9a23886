import { stateStyle, streamStateOf } from '../../formats/listing/health.ts'
import { eventLook, type ShownStream } from '../../formats/stream/view.ts'
import type { StreamEvent } from '../../stream/event.ts'
import type { OpenStream } from '../data/types.ts'

/** The open stream prepared for display; `undefined` before its document was read. */
export function shownOf(open: OpenStream | undefined, nowMs: number): ShownStream | undefined {
  if (open?.view === undefined) return undefined
  const { name, view, summary } = open
  const lease = open.listed?.lease ?? { state: 'available' }
  const { stream, time, document } = view
  const transactions = () => view.transactions()
  const atMs = clockOf(open, nowMs)
  const state = summary && streamStateOf(summary, atMs)
  return { name, version: document.version, lease, stream, state, time, nowMs: atMs, transactions }
}

/** Glyph, colour and word of an event; of the root the state of the stream, as in the header and the list of streams. */
export function lookOf(shown: ShownStream, event: StreamEvent): ReturnType<typeof eventLook> {
  const look = eventLook(shown, event)
  return shown.state !== undefined && shown.stream.isRoot(event) ? { ...look, ...stateStyle(shown.state) } : look
}

/** Time as of which it is displayed: a removed stream no longer ages. */
export function clockOf({ presence, view }: OpenStream, nowMs: number): number {
  return presence === 'gone' && view !== undefined ? view.nowMs : nowMs
}

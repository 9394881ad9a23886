import type { ShownStream } from '../../formats/stream/view.ts'
import type { OpenStream } from '../data/types.ts'

/** The open stream prepared for display; `undefined` before its document was read. */
export function shownOf(open: OpenStream | undefined, nowMs: number): ShownStream | undefined {
  if (open?.view === undefined) return undefined
  const { name, view } = open
  const lease = open.listed?.lease ?? { state: 'available' }
  const { stream, time, document } = view
  const transactions = () => view.transactions()
  return { name, version: document.version, lease, stream, time, nowMs: clockOf(open, nowMs), transactions }
}

/** Time as of which it is displayed: a removed stream no longer ages. */
export function clockOf({ presence, view }: OpenStream, nowMs: number): number {
  return presence === 'gone' && view !== undefined ? view.nowMs : nowMs
}

import type { EventStore } from '../../store/store.ts'
import { readSelected, type Unread } from '../read-selected.ts'
import type { Selection } from '../selection.ts'
import { type TriedEvent, triedEvents } from './attempts.ts'

/** What became of reading one stream. */
export type TriedStream =
  | { readonly kind: 'read'; readonly stream: string; readonly events: readonly TriedEvent[] }
  | Unread

export interface TriedOptions {
  /** Only what ended at or after it is wanted, epoch ms: streams last written before are not read. */
  readonly sinceMs?: number
  readonly signal?: AbortSignal
}

/**
 * Reads the history of many streams, each document once, in the order of the selection. A stream that vanishes between
 * listing and reading is `missing`.
 *
 * @throws the store's faults, the signal's reason
 */
export function readTried(
  store: EventStore,
  selection: Selection,
  { sinceMs = Number.NEGATIVE_INFINITY, signal }: TriedOptions = {},
): AsyncGenerator<TriedStream> {
  return readSelected<TriedStream>(store, selection, { floorMs: () => sinceMs, signal }, view => ({
    kind: 'read',
    stream: view.name,
    events: triedEvents(view),
  }))
}

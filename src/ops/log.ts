import type { StreamStore } from '../store/store.ts'
import type { Glob } from './glob.ts'
import type { JournalEntry, StreamView } from './read-stream.ts'
import { readSelected, type Selection, type Unread } from './selection.ts'

/** A filter of transactions; all given conditions must hold. */
export interface LogQuery {
  /** At or after, epoch ms. */
  readonly sinceMs?: number
  /** At or before, epoch ms. */
  readonly untilMs?: number
  /** The author. Foreign writes have no author. */
  readonly by?: Glob
  readonly ops?: readonly string[]
}

/** One transaction of one stream. */
export interface LogEntry {
  readonly stream: string
  readonly tx: JournalEntry
  /** Its time, epoch ms; if unreadable, that of the entry before it or of the last write. */
  readonly atMs: number
  /** The name of the target event as the document has it now; `''` without a target. */
  readonly eventName: string
}

/** The outcome for one stream. */
export type StreamLog =
  | { readonly kind: 'read'; readonly stream: string; readonly entries: readonly LogEntry[] }
  | Unread

export interface LogOptions {
  /** Streams last written before this time, epoch ms, are not read. Called before each stream. */
  readonly floorMs?: () => number
  readonly signal?: AbortSignal
}

/**
 * The transactions of many streams, stream by stream in the order of the selection, oldest first in each. A stream that
 * is removed between listing and reading is `missing`.
 * @throws the store's faults
 */
export function readLogs(
  store: StreamStore,
  selection: Selection,
  query: LogQuery,
  options: LogOptions = {},
): AsyncGenerator<StreamLog> {
  return readSelected<StreamLog>(store, selection, options, view => ({
    kind: 'read',
    stream: view.name,
    entries: entriesOf(view, query),
  }))
}

/** The matching transactions of one stream, oldest first. */
function entriesOf(view: StreamView, query: LogQuery): LogEntry[] {
  const entries: LogEntry[] = []
  let lastMs: number | undefined
  for (const tx of view.transactions()) {
    const readMs = Date.parse(tx.at)
    const atMs = Number.isNaN(readMs) ? (lastMs ?? view.stored.modifiedMs) : readMs
    lastMs = atMs
    if (!isWanted(tx, atMs, query)) continue
    entries.push({ stream: view.name, tx, atMs, eventName: view.stream.find(tx.on)?.name ?? '' })
  }
  return entries
}

function isWanted(tx: JournalEntry, atMs: number, { sinceMs, untilMs, by, ops }: LogQuery): boolean {
  if (sinceMs !== undefined && atMs < sinceMs) return false
  if (untilMs !== undefined && atMs > untilMs) return false
  if (by !== undefined && !by.matches(tx.by)) return false
  return ops === undefined || ops.includes(tx.op)
}

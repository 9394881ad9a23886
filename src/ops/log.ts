import type { EventStore, Listed, Stored } from '../store/store.ts'
import { BadDocument } from '../stream/errors.ts'
import { type StreamFilter, verdictOf } from './filter.ts'
import type { Glob } from './glob.ts'
import { readAhead } from './read-ahead.ts'
import { type SeenTransaction, type StreamView, viewOf } from './read-stream.ts'
import type { Selection } from './selection.ts'
import { summarizeStored } from './summaries.ts'

/** Which transactions are asked for; all that is given must hold. */
export interface LogQuery {
  /** At or after, epoch ms. */
  readonly sinceMs?: number
  /** At or before, epoch ms. */
  readonly untilMs?: number
  /** Who did it. What somebody did who keeps no journal has no name. */
  readonly by?: Glob
  readonly ops?: readonly string[]
}

/** One transaction of one stream. */
export interface LogEntry {
  readonly stream: string
  readonly tx: SeenTransaction
  /** When, epoch ms: where its time cannot be read, that of the one before it or of the last write. */
  readonly atMs: number
  /** The name of the target event as the document has it now; `''` without a target. */
  readonly eventName: string
}

/** What became of one stream. */
export type StreamLog =
  | { readonly kind: 'read'; readonly stream: string; readonly entries: readonly LogEntry[] }
  | { readonly kind: 'unreadable'; readonly stream: string; readonly cause: BadDocument }
  /** There is no stream of this name, or no longer. */
  | { readonly kind: 'missing'; readonly stream: string }

export interface LogOptions {
  /** Nothing earlier is wanted, epoch ms: streams last written before it are not read. Asked again before each. */
  readonly floorMs?: () => number
  readonly signal?: AbortSignal
}

const READS_AT_ONCE = 8

/** A transaction carries a time of the writer's making, the stream that of the store: on Azure in whole seconds. */
const CLOCKS_DIFFER_MS = 60_000

/**
 * The transactions of many streams, stream by stream in the order of the selection, oldest first in each. A stream that
 * vanishes between listing and reading is `missing`.
 * @throws the store's faults
 */
export async function* readLogs(
  store: EventStore,
  selection: Selection,
  query: LogQuery,
  options: LogOptions = {},
): AsyncGenerator<StreamLog> {
  const { signal } = options
  const logs =
    selection.kind === 'filter'
      ? readAhead(listed(store, selection.filter, options), READS_AT_ONCE, row =>
          logOfListed(store, row, selection.filter, query, signal),
        )
      : readAhead(new Set(selection.names), READS_AT_ONCE, name => logOf(store, name, query, signal))
  for await (const log of logs) if (log !== undefined) yield log
}

/** Rows that the filter lets pass or whose document has to decide. */
async function* listed(
  store: EventStore,
  filter: StreamFilter,
  { floorMs = () => Number.NEGATIVE_INFINITY, signal }: LogOptions,
): AsyncGenerator<Listed> {
  const prefix = filter.names?.prefix
  const query = { ...(prefix === undefined ? {} : { prefix }), ...(signal === undefined ? {} : { signal }) }
  for await (const page of store.list(query)) {
    for (const row of page) {
      if (filter.names !== undefined && !filter.names.matches(row.name)) continue
      if (row.modifiedMs < floorMs() - CLOCKS_DIFFER_MS) continue
      if (row.summary === undefined || verdict(store, row, filter) !== 'no') yield row
    }
  }
}

function verdict(store: EventStore, row: Listed, filter: StreamFilter) {
  return verdictOf({ listed: row, summary: row.summary }, filter, store.nowMs())
}

async function logOfListed(
  store: EventStore,
  row: Listed,
  filter: StreamFilter,
  query: LogQuery,
  signal: AbortSignal | undefined,
): Promise<StreamLog | undefined> {
  const stored = await store.read(row.name, signal)
  if (stored === undefined) return { kind: 'missing', stream: row.name }
  const nowMs = store.nowMs()
  if (verdict(store, row, filter) !== 'yes' && verdictOf(summarizeStored(stored, nowMs), filter, nowMs) !== 'yes') {
    return undefined
  }
  return logOfStored(stored, query, nowMs)
}

async function logOf(
  store: EventStore,
  name: string,
  query: LogQuery,
  signal: AbortSignal | undefined,
): Promise<StreamLog> {
  const stored = await store.read(name, signal)
  return stored === undefined ? { kind: 'missing', stream: name } : logOfStored(stored, query, store.nowMs())
}

function logOfStored(stored: Stored, query: LogQuery, nowMs: number): StreamLog {
  try {
    return { kind: 'read', stream: stored.name, entries: entriesOf(viewOf(stored, nowMs), query) }
  } catch (cause) {
    if (!(cause instanceof BadDocument)) throw cause
    return { kind: 'unreadable', stream: stored.name, cause }
  }
}

/** The transactions of one stream that are asked for, oldest first. */
function entriesOf(view: StreamView, query: LogQuery): LogEntry[] {
  const entries: LogEntry[] = []
  let lastMs: number | undefined
  for (const tx of view.transactions()) {
    const readMs = Date.parse(tx.at)
    const atMs = Number.isNaN(readMs) ? (lastMs ?? view.stored.modifiedMs) : readMs
    lastMs = atMs
    if (!isAskedFor(tx, atMs, query)) continue
    entries.push({ stream: view.name, tx, atMs, eventName: view.stream.find(tx.on)?.name ?? '' })
  }
  return entries
}

function isAskedFor(tx: SeenTransaction, atMs: number, { sinceMs, untilMs, by, ops }: LogQuery): boolean {
  if (sinceMs !== undefined && atMs < sinceMs) return false
  if (untilMs !== undefined && atMs > untilMs) return false
  if (by !== undefined && !by.matches(tx.by)) return false
  return ops === undefined || ops.includes(tx.op)
}

import { isStoredName } from '../store/names.ts'
import type { EventStore, Listed, Stored } from '../store/store.ts'
import { BadDocument } from '../stream/errors.ts'
import { verdictOf } from './filter.ts'
import { readAhead } from './read-ahead.ts'
import { viewOf } from './read-stream.ts'
import type { Selection } from './selection.ts'
import { type TriedEvent, triedEvents } from './stats-attempts.ts'
import { summarizeStored } from './summaries.ts'

/** What became of reading one stream. */
export type TriedStream =
  | { readonly kind: 'read'; readonly stream: string; readonly events: readonly TriedEvent[] }
  | { readonly kind: 'unreadable'; readonly stream: string; readonly cause: BadDocument }
  /** There is no stream of this name, or no longer. */
  | { readonly kind: 'missing'; readonly stream: string }

export interface TriedOptions {
  /** Only what ended at or after it is wanted, epoch ms: streams last written before are not read. */
  readonly sinceMs?: number
  readonly signal?: AbortSignal
}

type Filter = Extract<Selection, { readonly kind: 'filter' }>['filter']

const READS_AT_ONCE = 8

/** A transaction carries a time of the writer's making, the stream that of the store: on Azure in whole seconds. */
const CLOCKS_DIFFER_MS = 60_000

/**
 * Reads the history of many streams, each document once, in the order of the selection. A stream that vanishes between
 * listing and reading is `missing`.
 *
 * @throws the store's faults, the signal's reason
 */
export async function* readTried(
  store: EventStore,
  selection: Selection,
  options: TriedOptions = {},
): AsyncGenerator<TriedStream> {
  const { signal } = options
  if (selection.kind !== 'filter') {
    yield* readAhead(new Set(selection.names), READS_AT_ONCE, name => readNamed(store, name, signal))
    return
  }
  const { filter } = selection
  const rows = candidates(store, filter, options)
  for await (const tried of readAhead(rows, READS_AT_ONCE, row => readListed(store, row, filter, signal))) {
    if (tried !== undefined) yield tried
  }
}

/** Rows that the filter lets pass, or whose document has to decide. */
async function* candidates(store: EventStore, filter: Filter, { sinceMs, signal }: TriedOptions) {
  const prefix = filter.names?.prefix
  const query = { ...(prefix === undefined ? {} : { prefix }), ...(signal === undefined ? {} : { signal }) }
  const floorMs = (sinceMs ?? Number.NEGATIVE_INFINITY) - CLOCKS_DIFFER_MS
  for await (const page of store.list(query)) {
    for (const row of page) {
      // Other programs leave blobs under names that no stream can have, as marks of folders.
      if (row.modifiedMs < floorMs || filter.names?.matches(row.name) === false || !isStoredName(row.name)) continue
      if (verdict(store, row, filter) !== 'no') yield row
    }
  }
}

/** Without a summary beside it only the document can tell. */
function verdict(store: EventStore, listed: Listed, filter: Filter) {
  const { summary } = listed
  return summary === undefined ? 'unsure' : verdictOf({ listed, summary }, filter, store.nowMs())
}

async function readListed(
  store: EventStore,
  row: Listed,
  filter: Filter,
  signal: AbortSignal | undefined,
): Promise<TriedStream | undefined> {
  const stored = await store.read(row.name, signal)
  if (stored === undefined) return { kind: 'missing', stream: row.name }
  const nowMs = store.nowMs()
  const isSure = verdict(store, row, filter) === 'yes'
  if (!isSure && verdictOf(summarizeStored(stored, nowMs), filter, nowMs) !== 'yes') return undefined
  return triedOf(stored, nowMs)
}

async function readNamed(store: EventStore, name: string, signal: AbortSignal | undefined): Promise<TriedStream> {
  const stored = await store.read(name, signal)
  return stored === undefined ? { kind: 'missing', stream: name } : triedOf(stored, store.nowMs())
}

function triedOf(stored: Stored, nowMs: number): TriedStream {
  try {
    return { kind: 'read', stream: stored.name, events: triedEvents(viewOf(stored, nowMs)) }
  } catch (cause) {
    if (!(cause instanceof BadDocument)) throw cause
    return { kind: 'unreadable', stream: stored.name, cause }
  }
}

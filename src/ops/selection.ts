import type { StreamRow, StreamStore } from '../store/store.ts'
import { StreamFault } from '../stream/errors.ts'
import { readAhead } from '../util/concurrency.ts'
import { defined } from '../util/defined.ts'
import { mayPass, type StreamFilter, verdictOf } from './filter.ts'
import { type StreamView, viewOf } from './read-stream.ts'
import { summarizeStored, summaryOf } from './read-summary.ts'
import { type SummarizedStream, summaries } from './summaries.ts'

/** The streams of a command: given by name, or all that pass a filter. */
export type Selection =
  | { readonly kind: 'names'; readonly names: readonly string[] }
  /** Names from a file or standard input: a batch like a filter, but each name must exist. */
  | { readonly kind: 'list'; readonly names: readonly string[] }
  | { readonly kind: 'filter'; readonly filter: StreamFilter }

/** A page of selected streams. */
export type SelectedPage = {
  readonly found: readonly SummarizedStream[]
  /** Names without a stream. */
  readonly missing: readonly string[]
}

/** Maximum number of concurrent reads. */
const READS_AT_ONCE = 8

/** The streams of a selection, page by page: names in the given order, each once; streams of a filter by name. */
export async function* selected(
  store: StreamStore,
  selection: Selection,
  signal?: AbortSignal,
): AsyncGenerator<SelectedPage> {
  if (selection.kind === 'filter') {
    for await (const found of summaries(store, selection.filter, signal === undefined ? {} : { signal })) {
      yield { found, missing: [] }
    }
    return
  }
  const names = [...new Set(selection.names)]
  for (let at = 0; at < names.length; at += READS_AT_ONCE) {
    const part = names.slice(at, at + READS_AT_ONCE)
    const read = await Promise.all(part.map(name => summaryOf(store, { name }, signal)))
    yield {
      found: read.filter(item => item !== undefined),
      missing: part.filter((_, index) => read[index] === undefined),
    }
  }
}

/** A stream that could not be read. */
export type Unread =
  | { readonly kind: 'unreadable'; readonly stream: string; readonly cause: StreamFault }
  /** There is no stream of this name now. */
  | { readonly kind: 'missing'; readonly stream: string }

export interface ReadSelectedOptions {
  /** Streams last written before this time, epoch ms, are not read. Called before each stream. */
  readonly floorMs?: () => number
  /** False for rows of a listing that need not be read. */
  readonly isWanted?: (row: StreamRow) => boolean
  readonly signal?: AbortSignal | undefined
}

/** Tolerance, ms: a transaction has the writer's time, the stream the store's, on Azure in whole seconds. */
const CLOCKS_DIFFER_MS = 60_000

/**
 * Reads the streams of a selection, each document once, in the order of the selection, and yields the results of `use`.
 * A stream that is removed between listing and reading is `missing`.
 *
 * @throws the store's faults, the signal's reason
 */
export async function* readSelected<Made>(
  store: StreamStore,
  selection: Selection,
  options: ReadSelectedOptions,
  use: (view: StreamView) => Made | Promise<Made>,
): AsyncGenerator<Made | Unread> {
  const { signal } = options
  if (selection.kind !== 'filter') {
    yield* readAhead(new Set(selection.names), READS_AT_ONCE, name => readNamed(store, name, signal, use))
    return
  }
  const { filter } = selection
  const rows = candidates(store, filter, options)
  for await (const made of readAhead(rows, READS_AT_ONCE, row => readListed(store, row, filter, signal, use))) {
    if (made !== undefined) yield made
  }
}

/** Rows that pass the filter, or whose document must decide. */
async function* candidates(
  store: StreamStore,
  filter: StreamFilter,
  { floorMs = () => Number.NEGATIVE_INFINITY, isWanted = () => true, signal }: ReadSelectedOptions,
): AsyncGenerator<StreamRow> {
  const prefix = filter.names?.prefix
  const query = { ...(prefix === undefined ? {} : { prefix }), ...(signal === undefined ? {} : { signal }) }
  for await (const page of store.list(query)) {
    for (const row of page) {
      if (!mayPass(row, { ...defined({ names: filter.names, notNames: filter.notNames }) }) || !isWanted(row)) continue
      if (row.modifiedMs < floorMs() - CLOCKS_DIFFER_MS) continue
      if (row.summary === undefined || verdict(store, row, filter) !== 'no') yield row
    }
  }
}

function verdict(store: StreamStore, row: StreamRow, filter: StreamFilter) {
  return verdictOf({ listed: row, summary: row.summary }, filter, store.nowMs())
}

async function readListed<Made>(
  store: StreamStore,
  row: StreamRow,
  filter: StreamFilter,
  signal: AbortSignal | undefined,
  use: (view: StreamView) => Made | Promise<Made>,
): Promise<Made | Unread | undefined> {
  try {
    const stored = await store.read(row.name, signal)
    if (stored === undefined) return { kind: 'missing', stream: row.name }
    const nowMs = store.nowMs()
    const isSure = verdict(store, row, filter) === 'yes'
    if (!isSure && verdictOf(summarizeStored(stored, nowMs), filter, nowMs) !== 'yes') return undefined
    return await use(viewOf(stored, nowMs))
  } catch (error) {
    const unread = unreadOf(row.name, error)
    // Only the row of an unreadable stream can show whether it is selected.
    return verdict(store, row, filter) === 'no' ? undefined : unread
  }
}

async function readNamed<Made>(
  store: StreamStore,
  name: string,
  signal: AbortSignal | undefined,
  use: (view: StreamView) => Made | Promise<Made>,
): Promise<Made | Unread> {
  try {
    const stored = await store.read(name, signal)
    return stored === undefined ? { kind: 'missing', stream: name } : await use(viewOf(stored, store.nowMs()))
  } catch (error) {
    return unreadOf(name, error)
  }
}

/** @throws other faults than those of the stream */
function unreadOf(stream: string, cause: unknown): Unread {
  if (!(cause instanceof StreamFault)) throw cause
  return { kind: 'unreadable', stream, cause }
}

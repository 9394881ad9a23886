import type { StreamRow, StreamStore } from '../store/store.ts'
import { StreamFault } from '../stream/errors.ts'
import { readAhead } from '../util/concurrency.ts'
import { defined } from '../util/defined.ts'
import { mayPass, type StreamFilter, verdictOf } from './filter.ts'
import { type StreamView, viewOf } from './read-stream.ts'
import { type SummarizedStream, summaries, summarizeStored, summaryOf } from './summaries.ts'

/** The streams a command is about: named one by one, or all that pass a filter. */
export type Selection =
  | { readonly kind: 'names'; readonly names: readonly string[] }
  /** Names from a file or standard input: a batch like a filter, but each name has to exist. */
  | { readonly kind: 'list'; readonly names: readonly string[] }
  | { readonly kind: 'filter'; readonly filter: StreamFilter }

/** What stands behind a selection now. */
export type SelectedPage = {
  readonly found: readonly SummarizedStream[]
  /** Names that nothing has. */
  readonly missing: readonly string[]
}

/** At most so many streams are read at a time. */
const READS_AT_ONCE = 8

/** The streams of a selection, page by page: names in the order given, each once; those of a filter by name. */
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

/** What became of a stream that gave nothing. */
export type Unread =
  | { readonly kind: 'unreadable'; readonly stream: string; readonly cause: StreamFault }
  /** There is no stream of this name, or no longer. */
  | { readonly kind: 'missing'; readonly stream: string }

export interface ReadSelectedOptions {
  /** Nothing earlier is wanted, epoch ms: streams last written before it are not read. Asked again before each. */
  readonly floorMs?: () => number
  /** False for rows of a listing that are not to be read. */
  readonly isWanted?: (row: StreamRow) => boolean
  readonly signal?: AbortSignal | undefined
}

/** A transaction carries a time of the writer's making, the stream that of the store: on Azure in whole seconds. */
const CLOCKS_DIFFER_MS = 60_000

/**
 * Reads the streams of a selection, each document once, in the order of the selection, and gives what `use` makes of each.
 * A stream that vanishes between listing and reading is `missing`.
 *
 * @throws the store's faults, the signal's reason
 */
export async function* readSelected<Made>(
  store: StreamStore,
  selection: Selection,
  options: ReadSelectedOptions,
  use: (view: StreamView) => Made,
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

/** Rows that the filter lets pass, or whose document has to decide. */
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
  use: (view: StreamView) => Made,
): Promise<Made | Unread | undefined> {
  try {
    const stored = await store.read(row.name, signal)
    if (stored === undefined) return { kind: 'missing', stream: row.name }
    const nowMs = store.nowMs()
    const isSure = verdict(store, row, filter) === 'yes'
    if (!isSure && verdictOf(summarizeStored(stored, nowMs), filter, nowMs) !== 'yes') return undefined
    return use(viewOf(stored, nowMs))
  } catch (error) {
    const unread = unreadOf(row.name, error)
    // Of what nothing can be known only the row tells whether it is meant.
    return verdict(store, row, filter) === 'no' ? undefined : unread
  }
}

async function readNamed<Made>(
  store: StreamStore,
  name: string,
  signal: AbortSignal | undefined,
  use: (view: StreamView) => Made,
): Promise<Made | Unread> {
  try {
    const stored = await store.read(name, signal)
    return stored === undefined ? { kind: 'missing', stream: name } : use(viewOf(stored, store.nowMs()))
  } catch (error) {
    return unreadOf(name, error)
  }
}

/** @throws what is no fault of the stream */
function unreadOf(stream: string, cause: unknown): Unread {
  if (!(cause instanceof StreamFault)) throw cause
  return { kind: 'unreadable', stream, cause }
}

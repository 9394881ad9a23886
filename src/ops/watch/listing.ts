import { compareNames } from '../../store/names.ts'
import type { ListQuery, StreamRow, StreamStore } from '../../store/store.ts'
import { type StreamFilter, verdictOf } from '../filter.ts'
import type { Selection } from '../selection.ts'
import { fromListing, rowOf, type SummarizedStream, summaryOf } from '../summaries.ts'

/** Maximum number of names to list one by one; above it one listing over all of them is cheaper. */
const NAMES_ONE_BY_ONE = 8

/** The query of a poll. `skip`: rows that are not needed; they may come nevertheless. */
export type PollQuery = Pick<ListQuery, 'skip' | 'signal'>

/** Lists the rows of a selection in order of name. No document is read. */
export type SelectionListing = (query: PollQuery) => AsyncIterable<readonly StreamRow[]>

/**
 * The listing of a selection: streams of a filter by the prefix and patterns of its names, the rest of the filter is not
 * applied; a few names by a listing of one row each; more names by one listing from the first to the last.
 */
export function listingOf(store: StreamStore, selection: Selection): SelectionListing {
  if (selection.kind === 'filter') return query => matching(store, selection.filter, query)
  const names = [...new Set(selection.names)].sort(compareNames)
  if (names.length <= NAMES_ONE_BY_ONE) return ({ signal }) => oneByOne(store, names, signal)
  return query => fromFirstToLast(store, names, query)
}

async function* matching(
  store: StreamStore,
  { names, notNames }: StreamFilter,
  query: PollQuery,
): AsyncGenerator<readonly StreamRow[]> {
  if (names === undefined && notNames === undefined) {
    yield* store.list(query)
    return
  }
  for await (const page of store.list({ ...query, ...(names && { prefix: names.prefix }) })) {
    yield page.filter(({ name }) => names?.matches(name) !== false && notNames?.matches(name) !== true)
  }
}

async function* oneByOne(
  store: StreamStore,
  names: readonly string[],
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly StreamRow[]> {
  const rows = await Promise.all(names.map(name => rowOf(store, name, signal)))
  yield rows.filter(row => row !== undefined)
}

async function* fromFirstToLast(
  store: StreamStore,
  names: readonly string[],
  { skip, signal }: PollQuery,
): AsyncGenerator<readonly StreamRow[]> {
  const wanted = new Set(names)
  const [first = ''] = names
  const last = names.at(-1) ?? ''
  // a name without its last character sorts before the name
  const after = [...first].slice(0, -1).join('')
  let isPast = false
  const query: ListQuery = {
    prefix: commonStart(first, last),
    ...(after === '' ? {} : { after }),
    // the first row at or after the last name is not skipped: it ends the listing
    skip(name, etag, isLeased) {
      const wasPast = isPast
      isPast ||= compareNames(name, last) >= 0
      return isPast ? wasPast : !wanted.has(name) || skip?.(name, etag, isLeased) === true
    },
    ...(signal && { signal }),
  }
  for await (const page of store.list(query)) {
    yield page.filter(row => wanted.has(row.name))
    if (isPast) return
  }
}

function commonStart(a: string, b: string): string {
  const other = [...b]
  const points = [...a]
  const differs = points.findIndex((point, at) => point !== other[at])
  return differs < 0 ? a : points.slice(0, differs).join('')
}

/** A stream evaluated against a filter. */
export interface Evaluated {
  readonly item: SummarizedStream
  /**
   * The time, epoch ms, from which its present state passes the filter, apart from its lease: at once, at its first
   * deadline (`overdue`), or never (`Infinity`).
   */
  readonly passesFromMs: number
}

/** Decides which streams pass a filter, now and later. */
export interface FilterGate {
  /** Evaluates a stream; reads its document if it has no valid summary. `undefined`: it was removed meanwhile. */
  evaluate(row: StreamRow): Promise<Evaluated | undefined>
  /** Whether a stream that was evaluated in this state passes now. */
  isOpen(passesFromMs: number, row: StreamRow): boolean
}

/** @param filter its names are not compared: the listing does that */
export function filterGateOf(store: StreamStore, filter: StreamFilter, signal: AbortSignal | undefined): FilterGate {
  const { overdue = false, abandoned = false, locked = false, ...lasting } = filter
  const verdict = (item: SummarizedStream) => verdictOf(item, lasting, store.nowMs())
  const passesFromMs = ({ summary }: SummarizedStream) =>
    Math.max(
      overdue ? (summary?.dueMs ?? Number.POSITIVE_INFINITY) : 0,
      abandoned ? (summary?.claimEndMs ?? Number.POSITIVE_INFINITY) : 0,
    )
  return {
    async evaluate(row) {
      const item = row.summary === undefined ? undefined : fromListing(row, row.summary)
      if (item !== undefined && verdict(item) === 'yes') return { item, passesFromMs: passesFromMs(item) }
      if (item !== undefined && verdict(item) === 'no') return { item, passesFromMs: Number.POSITIVE_INFINITY }
      const whole = await summaryOf(store, row, signal)
      if (whole === undefined) return undefined
      const passes = verdict(whole) === 'yes'
      return { item: whole, passesFromMs: passes ? passesFromMs(whole) : Number.POSITIVE_INFINITY }
    },
    isOpen(fromMs, row) {
      return fromMs <= store.nowMs() && (!locked || isLocked(row))
    },
  }
}

function isLocked(row: StreamRow): boolean {
  return verdictOf({ listed: row, summary: undefined }, { locked: true }, 0) === 'yes'
}

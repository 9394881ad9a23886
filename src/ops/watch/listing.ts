import { compareNames } from '../../store/names.ts'
import type { ListQuery, StreamRow, StreamStore } from '../../store/store.ts'
import { type StreamFilter, verdictOf } from '../filter.ts'
import type { Glob } from '../glob.ts'
import type { Selection } from '../selection.ts'
import { fromListing, rowOf, type SummarizedStream, summaryOf } from '../summaries.ts'

/** Up to so many names are looked for one by one; above that one listing over all of them is cheaper. */
const NAMES_ONE_BY_ONE = 8

/** What is asked of a look. `skip`: rows that are of no interest; they may come all the same. */
export type Asked = Pick<ListQuery, 'skip' | 'signal'>

/** What one look at a selection lists: rows in order of name, those of other names left out. No document is read. */
export type SelectionListing = (asked: Asked) => AsyncIterable<readonly StreamRow[]>

/**
 * How a selection is listed: the streams of a filter by what their names begin with, the rest of the filter is not
 * applied; a few names by a listing of one row each; more names by one listing from the first to the last.
 */
export function listingOf(store: StreamStore, selection: Selection): SelectionListing {
  if (selection.kind === 'filter') return asked => matching(store, selection.filter.names, asked)
  const names = [...new Set(selection.names)].sort(compareNames)
  if (names.length <= NAMES_ONE_BY_ONE) return ({ signal }) => oneByOne(store, names, signal)
  return asked => fromFirstToLast(store, names, asked)
}

async function* matching(
  store: StreamStore,
  names: Glob | undefined,
  asked: Asked,
): AsyncGenerator<readonly StreamRow[]> {
  if (names === undefined) {
    yield* store.list(asked)
    return
  }
  for await (const page of store.list({ ...asked, prefix: names.prefix })) {
    yield page.filter(({ name }) => names.matches(name))
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
  { skip, signal }: Asked,
): AsyncGenerator<readonly StreamRow[]> {
  const wanted = new Set(names)
  const [first = ''] = names
  const last = names.at(-1) ?? ''
  // without its last character a name sorts before itself
  const after = [...first].slice(0, -1).join('')
  let isPast = false
  const query: ListQuery = {
    prefix: commonStart(first, last),
    ...(after === '' ? {} : { after }),
    // the first row at or behind the last name is let through: it ends the look
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

/** A stream that was looked at. */
export interface Evaluated {
  readonly item: SummarizedStream
  /**
   * From when on, epoch ms, it passes the filter as long as it stands as it does, its lease aside: at once, when its
   * first limit ends (`overdue`), or never (`Infinity`).
   */
  readonly passesFromMs: number
}

/** Tells who passes a filter, now and later. */
export interface FilterGate {
  /** Looks at a stream; reads its document where the summary beside it does not count. `undefined`: it is gone by now. */
  sight(row: StreamRow): Promise<Evaluated | undefined>
  /** Whether a stream passes now that was sighted in this state before. */
  isOpen(passesFromMs: number, row: StreamRow): boolean
}

/** @param filter the names in it are not compared: the listing did that */
export function entranceOf(store: StreamStore, filter: StreamFilter, signal: AbortSignal | undefined): FilterGate {
  const { overdue = false, abandoned = false, locked = false, ...lasting } = filter
  const verdict = (item: SummarizedStream) => verdictOf(item, lasting, store.nowMs())
  const passesFromMs = ({ summary }: SummarizedStream) =>
    Math.max(
      overdue ? (summary?.dueMs ?? Number.POSITIVE_INFINITY) : 0,
      abandoned ? (summary?.claimEndMs ?? Number.POSITIVE_INFINITY) : 0,
    )
  return {
    async sight(row) {
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

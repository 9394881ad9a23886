import { type ListingCount, showCount, shownOf, startCounting } from '../../cli/counter.ts'
import type { ProgressLine } from '../../cli/output/progress-line.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { keepHeapSmall } from '../../cli/v8-flags.ts'
import type { StreamFilter } from '../../ops/filter.ts'
import { type SummarizedStream, summaries } from '../../ops/summaries.ts'
import { StoreUnreachable } from '../../store/errors.ts'
import type { StreamStore } from '../../store/store.ts'
import type { SortKey } from './options.ts'
import type { ListFormat } from './output.ts'
import { rankingOf } from './ranking.ts'

export const BY_NAME: SortKey = { field: 'name', descending: false }

/** True if the store itself lists in this order, so that rows need not be collected. */
export function listsInOrder(store: StreamStore, { field, descending }: SortKey, filter: StreamFilter): boolean {
  if (descending) return false
  return (
    field === 'name' || (field === 'due' && hasDueIndex(store) && Object.keys(filter).every(key => key === 'names'))
  )
}

/** The streams that pass the filter, by name; with `due`, those with a due time come first. */
export function pagesOf(store: StreamStore, filter: StreamFilter, order: 'name' | 'due'): Pages {
  return signal => (order === 'due' ? dueFirst(store, filter, signal) : summaries(store, filter, { signal }))
}

/** Other stores collect for this order too, and omit streams without a summary. */
function hasDueIndex(store: StreamStore): boolean {
  return store.address.startsWith('sqlite:')
}

async function* dueFirst(
  store: StreamStore,
  filter: StreamFilter,
  signal: AbortSignal,
): AsyncGenerator<readonly SummarizedStream[]> {
  yield* summaries(store, filter, { order: 'due', signal })
  for await (const page of summaries(store, filter, { signal })) {
    const rest = page.filter(({ summary }) => summary?.dueMs === undefined)
    if (rest.length > 0) yield rest
  }
}

type Pages = (signal: AbortSignal) => AsyncIterable<readonly SummarizedStream[]>

/**
 * Writes the streams in listing order, page by page, in constant memory. If the format has a total, streams beyond
 * `limit` are counted for a limited time.
 */
export async function writeAsListed<Row>(
  pages: Pages,
  limit: number,
  list: ListFormat<Row>,
  runtime: Runtime,
): Promise<ListingCount> {
  const counting = startCounting(runtime)
  let shown = 0
  let seen = 0
  try {
    for await (const page of pages(counting.signal)) {
      const items = page.slice(0, limit - shown)
      if (items.length > 0) await list.write(items.map(item => list.row(item)))
      // A short listing ends before the heap grows.
      if (seen < LONG && seen + page.length >= LONG) await keepHeapSmall()
      shown += items.length
      seen += page.length
      if (seen > shown && !(list.hasTotal && counting.hasTimeLeft())) return { shown, seen, exact: false }
    }
    return { shown, seen, exact: true }
  } catch (error) {
    // All rows up to the limit were shown, so a failure to count the rest is not a fault.
    const isCounting = seen > shown && !runtime.signal.aborted
    if (isCounting && (counting.isOver || error instanceof StoreUnreachable)) return { shown, seen, exact: false }
    throw error
  } finally {
    counting.close()
  }
}

/** Number of rows from which a listing takes care of its memory. */
const LONG = 5_000

const ROWS_AT_ONCE = 1_000

/** Writes the streams in another order: lists all of them before it writes the first. */
export async function writeSorted<Row>(
  pages: Pages,
  key: SortKey,
  limit: number,
  list: ListFormat<Row>,
  progress: ProgressLine,
  runtime: Runtime,
): Promise<ListingCount> {
  const ranking = rankingOf(key, limit, list.row)
  const startMs = runtime.nowMs()
  try {
    for await (const page of pages(runtime.signal)) {
      ranking.add(page)
      await showCount(ranking.seen, startMs, progress, runtime)
    }
  } finally {
    await progress.clear()
  }
  const rows = ranking.rows()
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) await list.write(rows.slice(at, at + ROWS_AT_ONCE))
  return { shown: rows.length, seen: ranking.seen, exact: true }
}

/** The sentence if streams were left out for `--limit`. */
export function truncatedText(tally: ListingCount, uncounted: boolean): string {
  const what =
    uncounted && !tally.exact ? `showing the first ${tally.shown}; there are more` : `showing ${shownOf(tally)}`
  return `${what} (--limit N shows more, filters such as --match fewer)`
}

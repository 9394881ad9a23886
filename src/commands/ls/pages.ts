import { type ListingCount, showCount, startCounting } from '../../cli/counter.ts'
import type { ProgressLine } from '../../cli/progress-line.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { StreamFilter } from '../../ops/filter.ts'
import { type SummarizedStream, summaries } from '../../ops/summaries.ts'
import { StoreUnreachable } from '../../store/errors.ts'
import type { StreamStore } from '../../store/store.ts'
import type { SortKey } from './options.ts'
import type { ListFormat } from './output.ts'
import { rankingOf } from './ranking.ts'

/** Whether the store itself lists in this order, so that nothing has to be collected. */
export function listsInOrder(store: StreamStore, { field, descending }: SortKey, filter: StreamFilter): boolean {
  if (descending) return false
  return (
    field === 'name' || (field === 'due' && hasDueIndex(store) && Object.keys(filter).every(key => key === 'names'))
  )
}

/** The streams that pass the filter, by name, or with `due` those that have a due time first. */
export function pagesOf(store: StreamStore, filter: StreamFilter, order: 'name' | 'due'): Pages {
  return signal => (order === 'due' ? dueFirst(store, filter, signal) : summaries(store, filter, { signal }))
}

/** Elsewhere a listing by due time collects too, and leaves out what has no summary. */
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

/** A listing, page by page. */
type Pages = (signal: AbortSignal) => AsyncIterable<readonly SummarizedStream[]>

/**
 * Writes the streams in the order in which they are listed, each page as it comes: what is held does not grow with their
 * number. Behind `limit` the rest is counted for a while, where the format tells a total.
 */
export async function writeAsListed<Row>(
  pages: Pages,
  limit: number,
  list: ListFormat<Row>,
  runtime: Runtime,
): Promise<ListingCount> {
  const time = startCounting(runtime)
  let shown = 0
  let seen = 0
  try {
    for await (const page of pages(time.signal)) {
      const items = page.slice(0, limit - shown)
      if (items.length > 0) await list.write(items.map(list.row))
      shown += items.length
      seen += page.length
      if (seen > shown && !(list.tellsTotal && time.hasTimeLeft())) return { shown, seen, exact: false }
    }
    return { shown, seen, exact: true }
  } catch (error) {
    // what was asked for has been shown: that the rest could not be counted is no fault
    const counting = seen > shown && !runtime.signal.aborted
    if (counting && (time.isOver || error instanceof StoreUnreachable)) return { shown, seen, exact: false }
    throw error
  } finally {
    time.close()
  }
}

const ROWS_AT_ONCE = 1_000

/** Writes the streams in another order: all are listed before the first is written. */
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

import { showCount } from '../../cli/counter.ts'
import { patienceOf } from '../../cli/patience.ts'
import type { ProgressLine } from '../../cli/progress-line.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { Tally } from '../../cli/tally.ts'
import type { SummarizedStream } from '../../ops/summaries.ts'
import { StoreUnreachable } from '../../store/errors.ts'
import type { ListFormat } from './output.ts'
import { rankingOf } from './ranking.ts'
import type { SortKey } from './sort-key.ts'

/** A listing, page by page. */
export type Pages = (signal: AbortSignal) => AsyncIterable<readonly SummarizedStream[]>

/**
 * Writes the streams in the order in which they are listed, each page as it comes: what is held does not grow with their
 * number. Behind `limit` the rest is counted for a while, where the format tells a total.
 */
export async function writeAsListed<Row>(
  pages: Pages,
  limit: number,
  list: ListFormat<Row>,
  runtime: Runtime,
): Promise<Tally> {
  const patience = patienceOf(runtime)
  let shown = 0
  let seen = 0
  try {
    for await (const page of pages(patience.signal)) {
      const items = page.slice(0, limit - shown)
      if (items.length > 0) await list.write(items.map(list.row))
      shown += items.length
      seen += page.length
      if (seen > shown && !(list.tellsTotal && patience.lasts())) return { shown, seen, exact: false }
    }
    return { shown, seen, exact: true }
  } catch (error) {
    // what was asked for has been shown: that the rest could not be counted is no fault
    const counting = seen > shown && !runtime.signal.aborted
    if (counting && (patience.ended || error instanceof StoreUnreachable)) return { shown, seen, exact: false }
    throw error
  } finally {
    patience.close()
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
): Promise<Tally> {
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

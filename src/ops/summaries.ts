import type { ListQuery, StreamRow, StreamStore } from '../store/store.ts'
import type { Summary } from '../stream/summary.ts'
import { mayPass, type StreamFilter, verdictOf } from './filter.ts'
import { isCut } from './open-events.ts'
import type { SummarizedStream } from './read-summary.ts'

export type { SummarizedStream, Unreadable } from './read-summary.ts'

export interface SummariesQuery extends Omit<ListQuery, 'prefix' | 'limit'> {
  /** Reads the documents of streams whose summary leaves out ready or running events. */
  readonly wholeLists?: boolean
}

/** The streams of a store that pass a filter, page by page in the order of the store; empty pages are left out. */
export async function* summaries(
  store: StreamStore,
  filter: StreamFilter,
  { wholeLists = false, ...query }: SummariesQuery = {},
): AsyncGenerator<readonly SummarizedStream[]> {
  const prefix = filter.names?.prefix
  const hasConditions = Object.keys(filter).some(condition => condition !== 'names' && condition !== 'notNames')
  const needsRead = (listed: StreamRow) => {
    const { summary } = listed
    if (summary === undefined) return true
    return wholeLists && isCut(summary) && verdictOf({ listed, summary }, filter, store.nowMs()) !== 'no'
  }
  for await (const page of store.list({ ...query, ...(prefix === undefined ? {} : { prefix }) })) {
    const rows = page.filter(listed => mayPass(listed, filter))
    const toRead = new Set(rows.filter(needsRead))
    for (const part of parts(rows, toRead)) {
      const found: SummarizedStream[] = []
      const read = await readEach(store, part, toRead, query.signal)
      for (const listed of part) {
        const { summary } = listed
        const isRead = summary === undefined || toRead.has(listed)
        const item = isRead ? read.get(listed) : fromListing(listed, summary)
        const passing = hasConditions && item ? await decided(store, item, filter, query.signal) : item
        if (passing !== undefined) found.push(passing)
      }
      if (found.length > 0) yield found
    }
  }
}

/** Maximum number of concurrent reads. */
const READS_AT_ONCE = 8

/** Parts of a page with few documents to read, so that the first streams do not wait for all documents. */
function* parts(page: readonly StreamRow[], toRead: ReadonlySet<StreamRow>): Generator<readonly StreamRow[]> {
  let from = 0
  let reads = 0
  for (const row of toRead) {
    if (++reads % READS_AT_ONCE > 0) continue
    const end = page.indexOf(row, from) + 1
    yield page.slice(from, end)
    from = end
  }
  if (from < page.length) yield page.slice(from)
}

/** Reads those of a part that were listed without a sufficient summary; removed ones are left out. */
async function readEach(
  store: StreamStore,
  part: readonly StreamRow[],
  toRead: ReadonlySet<StreamRow>,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<StreamRow, SummarizedStream>> {
  if (toRead.size === 0) return new Map()
  const { summaryOf } = await import('./read-summary.ts')
  const rows = part.filter(listed => toRead.has(listed))
  const read = await Promise.all(rows.map(listed => summaryOf(store, listed, signal)))
  return new Map(rows.flatMap((listed, at) => (read[at] === undefined ? [] : [[listed, read[at]]])))
}

async function decided(
  store: StreamStore,
  item: SummarizedStream,
  filter: StreamFilter,
  signal: AbortSignal | undefined,
): Promise<SummarizedStream | undefined> {
  const verdict = verdictOf(item, filter, store.nowMs())
  if (verdict !== 'unsure') return verdict === 'yes' ? item : undefined
  const { summaryOf } = await import('./read-summary.ts')
  const whole = await summaryOf(store, item.listed, signal)
  return whole !== undefined && verdictOf(whole, filter, store.nowMs()) === 'yes' ? whole : undefined
}

/** A row of a listing with a valid summary. */
export function fromListing(listed: StreamRow, summary: Summary): SummarizedStream {
  return { listed, summary, fault: undefined, pin: { ifVersion: summary.version, ifBorn: summary.born } }
}

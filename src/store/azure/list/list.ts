import { compareNames, endOfPrefix, isReservedName, RESERVED_PREFIX } from '../../names.ts'
import type { ListQuery, StreamRow } from '../../store.ts'
import type { AzureListReader, ListedPage, RowFilter } from './pages.ts'
import { listInPartitions } from './partitions.ts'

/**
 * The streams of a container, page by page. By name, a page is requested when the one before was consumed; in any order and
 * without a limit, several are read ahead. With `order: 'due'` the rows with a due time are collected first: with a limit of n
 * never more than n and a page of them, otherwise all.
 */
export async function* listStreams(reader: AzureListReader, query: ListQuery): AsyncGenerator<readonly StreamRow[]> {
  query.signal?.throwIfAborted()
  if ((query.limit !== undefined && query.limit <= 0) || isPast(query)) return
  if (query.order === 'due') yield* byDue(reader, query)
  else if (query.order === 'any' && query.limit === undefined) yield* inAnyOrder(reader, query)
  else yield* byName(reader, query)
}

async function* byName(reader: AzureListReader, query: ListQuery): AsyncGenerator<readonly StreamRow[]> {
  const { prefix, limit = Number.POSITIVE_INFINITY, signal } = query
  let startFrom = startOf(query)
  const wanted = wantedBy(query)
  let left = limit
  // Reserved names and `startFrom` itself may take up room on a small page.
  let size = Math.min(reader.pageSize, limit + 10)
  let marker: string | undefined
  let isMore: boolean
  do {
    const page = await reader.page({ prefix, startFrom, marker, size, signal }, wanted)
    const rows = page.rows.slice(0, left)
    left -= rows.length
    if (rows.length > 0) yield rows
    marker = page.marker
    const behind = startBehindReserved(page, query)
    if (marker !== undefined && behind !== undefined) {
      startFrom = behind
      marker = undefined
      isMore = true
    } else isMore = marker !== undefined
    // Rows that are filtered out may fill many small pages.
    size = Math.min(reader.pageSize, 4 * size)
  } while (left > 0 && isMore)
}

function inAnyOrder(reader: AzureListReader, query: ListQuery): AsyncGenerator<readonly StreamRow[]> {
  const { prefix, signal } = query
  const resumeAt = (page: ListedPage) => startBehindReserved(page, query)
  return listInPartitions(reader, { prefix, startFrom: startOf(query), signal, wanted: wantedBy(query), resumeAt })
}

async function* byDue(reader: AzureListReader, query: ListQuery): AsyncGenerator<readonly StreamRow[]> {
  const limit = query.limit ?? Number.POSITIVE_INFINITY
  let soonest: StreamRow[] = []
  for await (const page of inAnyOrder(reader, query)) {
    for (const row of page) if (row.summary?.dueMs !== undefined) soonest.push(row)
    if (soonest.length > limit) soonest = soonest.sort(compareDue).slice(0, limit)
  }
  soonest.sort(compareDue)
  const { pageSize } = reader
  for (let at = 0; at < soonest.length; at += pageSize) yield soonest.slice(at, at + pageSize)
}

function compareDue(a: StreamRow, b: StreamRow): number {
  return (a.summary?.dueMs ?? 0) - (b.summary?.dueMs ?? 0) || compareNames(a.name, b.name)
}

/** The first name behind all reserved ones. */
const BEHIND_RESERVED = endOfPrefix(RESERVED_PREFIX)

/**
 * Where to continue a listing of streams after a page that ends among reserved names: there may be far more data of events
 * than streams. `undefined` if the next page follows.
 */
function startBehindReserved(
  { last, isSorted }: Pick<ListedPage, 'last' | 'isSorted'>,
  { prefix = '', reserved = false }: Pick<ListQuery, 'prefix' | 'reserved'>,
): string | undefined {
  if (reserved || !isSorted || last === undefined || !isReservedName(last)) return undefined
  return BEHIND_RESERVED?.startsWith(prefix) ? BEHIND_RESERVED : undefined
}

/** The service accepts a start name only with the prefix. */
function startOf({ prefix = '', after }: ListQuery): string | undefined {
  return after?.startsWith(prefix) ? after : undefined
}

/** Whether all names with the prefix come before `after`. */
function isPast({ prefix = '', after = '' }: ListQuery): boolean {
  return compareNames(after, prefix) > 0 && !after.startsWith(prefix)
}

function wantedBy({ prefix = '', after, reserved = false, skip = () => false }: ListQuery): RowFilter {
  return (name, etag, isLeased) =>
    isReservedName(name) === reserved &&
    name.startsWith(prefix) &&
    (after === undefined || compareNames(name, after) > 0) &&
    !skip(name, etag, isLeased)
}

import type { ListQuery, StreamRow, StreamStore } from '../store/store.ts'
import { StreamFault } from '../stream/errors.ts'
import { summarize } from '../stream/summarize.ts'
import { readStream, viewAt } from './read-stream.ts'

/** Documents read at a time. */
const READS_AT_ONCE = 8

/**
 * A store whose listing shows its streams as they were at a time, replayed from their journals; its clock stands at that
 * time. Streams that have been removed since, or did not exist yet, are left out; leases are not recorded. Every document
 * is read.
 */
export function pastStore(store: StreamStore, atMs: number): StreamStore {
  const past: Pick<StreamStore, 'nowMs' | 'list'> = {
    nowMs: () => atMs,
    list: query => pastPages(store, atMs, query),
  }
  return new Proxy(store, {
    get(target, key) {
      if (key === 'nowMs' || key === 'list') return past[key]
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

async function* pastPages(store: StreamStore, atMs: number, query: ListQuery): AsyncGenerator<readonly StreamRow[]> {
  for await (const page of store.list(query)) {
    for (let from = 0; from < page.length; from += READS_AT_ONCE) {
      const some = page.slice(from, from + READS_AT_ONCE)
      const rows = await Promise.all(some.map(row => pastRow(store, atMs, row, query.signal)))
      yield rows.filter(row => row !== undefined)
    }
  }
}

/** The row of that time; an unreadable stream keeps its row, which says so. `undefined` before it existed. */
async function pastRow(
  store: StreamStore,
  atMs: number,
  row: StreamRow,
  signal: AbortSignal | undefined,
): Promise<StreamRow | undefined> {
  try {
    const view = await readStream(store, row.name, signal)
    if (view === undefined) return undefined
    const found = viewAt(view, { atMs })
    if (found.kind === 'never') return undefined
    const { document, past, atMs: writtenMs = atMs } = found.at
    const lastBy = past.at(-1)?.by ?? ''
    const summary = summarize(document, { lastModifiedMs: writtenMs, nowMs: atMs, lastBy, whole: true })
    return { ...row, modifiedMs: writtenMs, lease: { state: 'available' }, summary }
  } catch (error) {
    if (!(error instanceof StreamFault)) throw error
    const { summary: _, ...unread } = row
    return unread
  }
}

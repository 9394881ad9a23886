import type { StreamFilter } from '../../ops/filter.ts'
import { type SummarizedStream, summaries } from '../../ops/summaries.ts'
import type { EventStore } from '../../store/store.ts'
import type { Pages } from './deliver.ts'
import type { SortKey } from './sort-key.ts'

/** Whether the store itself lists in this order, so that nothing has to be collected. */
export function listsInOrder(store: EventStore, { field, descending }: SortKey, filter: StreamFilter): boolean {
  if (descending) return false
  return (
    field === 'name' || (field === 'due' && hasDueIndex(store) && Object.keys(filter).every(key => key === 'names'))
  )
}

/** The streams that pass the filter, by name, or with `due` those that have a due time first. */
export function pagesOf(store: EventStore, filter: StreamFilter, order: 'name' | 'due'): Pages {
  return signal => (order === 'due' ? dueFirst(store, filter, signal) : summaries(store, filter, { signal }))
}

/** Elsewhere a listing by due time collects too, and leaves out what has no summary. */
function hasDueIndex(store: EventStore): boolean {
  return store.address.startsWith('sqlite:')
}

async function* dueFirst(
  store: EventStore,
  filter: StreamFilter,
  signal: AbortSignal,
): AsyncGenerator<readonly SummarizedStream[]> {
  yield* summaries(store, filter, { order: 'due', signal })
  for await (const page of summaries(store, filter, { signal })) {
    const rest = page.filter(({ summary }) => summary?.dueMs === undefined)
    if (rest.length > 0) yield rest
  }
}

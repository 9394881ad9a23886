import type { StreamEntry } from '../../data/types.ts'
import type { Sort } from '../state.ts'

/** What a stream is sorted by, lowest first; streams without it stand last, whichever way the order goes. */
type KeyOf = (entry: StreamEntry) => number | string | undefined

/** What needs somebody's attention comes first. */
const STATUSES = ['aborted', 'inprocess', 'init', 'canceled', 'completed']
const UNREADABLE = -1

const KEYS: { readonly [By in string]: KeyOf } = {
  status: ({ item }) => (item.fault === undefined ? statusRank(item.summary?.status) : UNREADABLE),
  failed: ({ item }) => (item.summary === undefined ? undefined : -item.summary.failed),
  due: ({ item }) => item.summary?.dueMs,
  age: ({ item }) => item.summary?.createdMs,
  changed: ({ item }) => -item.listed.modifiedMs,
  since: ({ leasedSinceMs }) => leasedSinceMs,
  holder: ({ item }) => item.listed.lease.holder?.by,
}

/** An unknown status is an open one. */
function statusRank(status: string | undefined): number | undefined {
  if (status === undefined) return undefined
  const rank = STATUSES.indexOf(status)
  return rank < 0 ? STATUSES.indexOf('inprocess') : rank
}

/** Brings streams that are sorted by name into another order; those that are equal in it stay sorted by name. */
export function sortStreams(entries: StreamEntry[], { by, isDescending }: Sort): StreamEntry[] {
  if (by === 'name') return isDescending ? entries.reverse() : entries
  const keyOf = KEYS[by]
  if (keyOf === undefined) return entries
  const direction = isDescending ? -1 : 1
  return entries
    .map(entry => ({ entry, key: keyOf(entry) }))
    .sort((a, b) => compare(a.key, b.key, direction))
    .map(({ entry }) => entry)
}

function compare(a: ReturnType<KeyOf>, b: ReturnType<KeyOf>, direction: number): number {
  if (a === b) return 0
  if (a === undefined || b === undefined) return a === undefined ? 1 : -1
  return a < b ? -direction : direction
}

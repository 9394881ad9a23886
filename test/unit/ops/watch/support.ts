import { type FollowManyItem, type FollowManyOptions, followMany } from '../../../../src/ops/follow/follow-many.ts'
import type { Selection } from '../../../../src/ops/selection.ts'
import { type WatchItem, watch } from '../../../../src/ops/watch/watch.ts'
import { StoreUnreachable } from '../../../../src/store/errors.ts'
import type { ListQuery, StreamRow, StreamStore } from '../../../../src/store/store.ts'

export const EVERYTHING: Selection = { kind: 'filter', filter: {} }

/** The actions of a test between two polls. */
export type Step = () => unknown

/** Watches, one step after each poll and each outage; ends after the last. */
export function watching(store: StreamStore, selection: Selection, steps: readonly Step[]): Promise<WatchItem[]> {
  return collect(signal => watch(store, selection, { intervalMs: 0, signal }), steps)
}

/** Follows in the same way. Without the past by default. */
export function following(
  store: StreamStore,
  selection: Selection,
  steps: readonly Step[],
  options: Partial<FollowManyOptions> = {},
): Promise<FollowManyItem[]> {
  return collect(
    signal => followMany(store, selection, { past: { latest: 0 }, intervalMs: 0, signal, ...options }),
    steps,
  )
}

async function collect<Item extends { readonly kind: string }>(
  begin: (signal: AbortSignal) => AsyncIterable<Item>,
  steps: readonly Step[],
): Promise<Item[]> {
  const left = [...steps]
  const controller = new AbortController()
  const items: Item[] = []
  for await (const item of begin(controller.signal)) {
    items.push(item)
    if (item.kind !== 'polled' && item.kind !== 'interrupted') continue
    const step = left.shift()
    if (step === undefined) controller.abort()
    else await step()
  }
  return items
}

/** The compared part of each item: names of streams after the kind. */
export function told(items: readonly WatchItem[]): string[] {
  return items.map(item => {
    switch (item.kind) {
      case 'moved':
        return `moved ${item.streams.map(({ listed }) => listed.name).join(' ')}`
      case 'gone':
        return `gone ${item.names.join(' ')}`
      case 'polled':
        return item.missing.length === 0 ? 'polled' : `looked, missing ${item.missing.join(' ')}`
      default:
        return item.kind
    }
  })
}

/** The same for follow-many; polls without news are omitted. */
export function toldOfMany(items: readonly FollowManyItem[]): string[] {
  return items.flatMap(item => {
    switch (item.kind) {
      case 'transaction':
        return `${item.stream} ${item.tx.provisional ? '?' : item.tx.version} ${item.tx.op}`
      case 'unreadable':
        return `${item.stream} unreadable`
      case 'broken':
        return `${item.stream} ${item.why}`
      case 'resumed':
        return `resumed, ${item.broken} broken, ${item.gone} gone`
      case 'gone':
      case 'missing':
        return `${item.kind} ${item.names.join(' ')}`
      case 'polled':
        return []
      default:
        return item.kind
    }
  })
}

/** A store that counts requests and can be made unreachable. */
export interface Probe {
  readonly store: StreamStore
  readonly listings: ListQuery[]
  readonly reads: string[]
  /** The number of next calls without an answer. */
  readonly fails: { list: number; read: number }
  /** The replacement of a row in a listing. */
  row: (listed: StreamRow) => StreamRow
}

export function probe(inner: StreamStore): Probe {
  const listings: ListQuery[] = []
  const reads: string[] = []
  const list: StreamStore['list'] = async function* (query) {
    listings.push(query)
    if (found.fails.list-- > 0) throw new StoreUnreachable('nobody answers')
    for await (const page of inner.list(query)) yield page.map(found.row)
  }
  const read: StreamStore['read'] = async (name, signal) => {
    reads.push(name)
    if (found.fails.read-- > 0) throw new StoreUnreachable('nobody answers')
    return inner.read(name, signal)
  }
  const store = new Proxy(inner, {
    get(target, key) {
      if (key === 'list') return list
      if (key === 'read') return read
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const found: Probe = { store, listings, reads, fails: { list: 0, read: 0 }, row: listed => listed }
  return found
}

/** As after a foreign write: without a valid summary. */
export function withoutSummary({ summary: _, ...rest }: StreamRow): StreamRow {
  return rest
}

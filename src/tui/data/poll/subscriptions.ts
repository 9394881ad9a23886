import type { StreamStore } from '../../../store/store.ts'
import { readSubscriptions, type SubscriptionView } from '../../../subscriptions/read.ts'
import type { DataStore } from '../store.ts'
import type { SubscriptionRow } from '../types.ts'

/** Lags kept for the sparkline. */
const MOST_LAGS = 12
/** Reading all positions may take a quarter of the time, and once a second is enough. */
const SHARE = 4
const LEAST_PAUSE_MS = 900

/** Reads the subscriptions with their positions, as `leasectl subscription ls` does. */
export class SubscriptionsPoll {
  readonly #store: StreamStore
  readonly #data: DataStore
  readonly #monotonicMs: () => number
  #notBeforeMs = Number.NEGATIVE_INFINITY

  constructor(store: StreamStore, data: DataStore, monotonicMs: () => number) {
    this.#store = store
    this.#data = data
    this.#monotonicMs = monotonicMs
  }

  async poll(signal: AbortSignal): Promise<void> {
    const startMs = this.#monotonicMs()
    if (startMs < this.#notBeforeMs) return
    const views = await readSubscriptions(this.#store, signal)
    const before = new Map(this.#data.subscriptions.rows?.map(row => [row.key, row.lags]))
    this.#data.putSubscriptions(views.map(view => rowOf(view, before.get(view.name) ?? [])))
    this.#notBeforeMs = startMs + Math.max(LEAST_PAUSE_MS, SHARE * (this.#monotonicMs() - startMs))
  }
}

function rowOf(view: SubscriptionView, lags: readonly number[]): SubscriptionRow {
  const { name: key } = view
  if (view.kind === 'unreadable') return { key, view, halted: [], lags: [] }
  const halted = view.shards.flatMap(shard => shard.halted).sort((a, b) => (a.stream < b.stream ? -1 : 1))
  return { key, view, halted, lags: [...lags, view.lagMs].slice(-MOST_LAGS) }
}

import { viewInboxes } from '../../../inbox/view.ts'
import type { StreamStore } from '../../../store/store.ts'
import type { DataStore } from '../store.ts'
import type { InboxRow } from '../types.ts'

/** Lags kept for the sparklines. */
const MOST_LAGS = 12
/** Reading all partitions may take a quarter of the time, and once a second is enough. */
const SHARE = 4
const LEAST_PAUSE_MS = 900
/** Bytes of a partition that are read to count what waits. */
const COUNTED_BYTES = 256 * 1024

/** Reads the inboxes with their partitions, as `leasectl inbox show` does. */
export class InboxesPoll {
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
    const before = this.#data.inboxes.rows ?? []
    const rows: InboxRow[] = []
    const options = { countedBytes: COUNTED_BYTES, known: before.map(({ view }) => view), signal }
    for await (const view of viewInboxes(this.#store, options)) {
      const lags = before.find(({ key }) => key === view.name)?.lags ?? []
      rows.push({ key: view.name, view, lags: this.#withLag(lags, view) })
    }
    this.#data.putInboxes(rows)
    this.#notBeforeMs = startMs + Math.max(LEAST_PAUSE_MS, SHARE * (this.#monotonicMs() - startMs))
  }

  #withLag(lags: InboxRow['lags'], view: InboxRow['view']): InboxRow['lags'] {
    if (view.kind === 'unreadable') return []
    const { records, oldestMs } = view.lag
    const ageMs = oldestMs === undefined ? 0 : Math.max(0, this.#store.nowMs() - oldestMs)
    return [...lags, { records, ageMs }].slice(-MOST_LAGS)
  }
}

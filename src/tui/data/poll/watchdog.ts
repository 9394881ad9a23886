import { readWatchdogState } from '../../../ops/watchdog-state/parse.ts'
import { compareNames } from '../../../store/names.ts'
import type { StreamStore } from '../../../store/store.ts'
import { firstOf } from '../../../util/top-n.ts'
import type { DataStore } from '../store.ts'
import type { StreamTable, WatchdogView } from '../types.ts'

/** Limits shown at most, the soonest ones. */
const NEXT_SHOWN = 200

/** Keeps the state written by watchdogs, and the limits that expire next. */
export class WatchdogPoll {
  readonly #store: StreamStore
  readonly #data: DataStore
  #mark: string | undefined
  #tableRevision = -1
  #state = ''

  constructor(store: StreamStore, data: DataStore) {
    this.#store = store
    this.#data = data
  }

  /** @param mark the store's current change token: nothing is read if it equals that of the last poll */
  async poll(mark: string | undefined, signal: AbortSignal): Promise<void> {
    this.#findNext()
    if (mark !== undefined && mark === this.#mark) return
    this.#mark = undefined
    const state = await readWatchdogState(this.#store, signal)
    const text = JSON.stringify(state)
    if (text !== this.#state) this.#data.putWatchdog({ state })
    this.#state = text
    this.#mark = mark
  }

  #findNext(): void {
    const { streams, watchdog } = this.#data
    if (streams.revision === this.#tableRevision) return
    this.#tableRevision = streams.revision
    const next = firstOf(limitsOf(streams), NEXT_SHOWN, (a, b) => a.dueMs - b.dueMs || compareNames(a.stream, b.stream))
    if (JSON.stringify(next) !== JSON.stringify(watchdog.next)) this.#data.putWatchdog({ next })
  }
}

function* limitsOf(streams: StreamTable): Generator<WatchdogView['next'][number]> {
  for (const { name, item } of streams.values()) {
    const dueMs = item.summary?.dueMs
    if (dueMs !== undefined) yield { stream: name, dueMs }
  }
}

import { readStream } from '../../../ops/read-stream.ts'
import type { StreamStore } from '../../../store/store.ts'
import { StreamFault } from '../../../stream/errors.ts'
import type { DataStore } from '../store.ts'

/** Reads a stream whose first failure, or an event of which, is shown to its end; again when the stream changes. */
export class FailurePoll {
  readonly #store: StreamStore
  readonly #data: DataStore

  constructor(store: StreamStore, data: DataStore) {
    this.#store = store
    this.#data = data
  }

  async poll(name: string, signal: AbortSignal): Promise<void> {
    const { item } = this.#data.streams.get(name) ?? {}
    const etag = item?.listed.etag
    const known = this.#data.failure
    if (item === undefined || etag === undefined || (known?.stream === name && known.etag === etag)) return
    try {
      const view = await readStream(this.#store, name, signal)
      const text = view?.stream.find(item.summary?.failedId ?? '')?.msg ?? ''
      if (view !== undefined) this.#data.putFailure({ stream: name, etag, text, view })
    } catch (error) {
      // The list says why it cannot be read.
      if (!(error instanceof StreamFault)) throw error
    }
  }
}

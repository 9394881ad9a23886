import { readStream } from '../../../ops/read-stream.ts'
import type { StreamStore } from '../../../store/store.ts'
import { StreamFault } from '../../../stream/errors.ts'
import type { DataStore } from '../store.ts'

/** Reads the whole first failure of a stream whose summary has only its beginning; again when the stream changes. */
export class FailurePoll {
  readonly #store: StreamStore
  readonly #data: DataStore

  constructor(store: StreamStore, data: DataStore) {
    this.#store = store
    this.#data = data
  }

  async poll(name: string, signal: AbortSignal): Promise<void> {
    const { item } = this.#data.streams.get(name) ?? {}
    const id = item?.summary?.failedId
    const etag = item?.listed.etag
    const known = this.#data.failure
    if (id === undefined || etag === undefined || (known?.stream === name && known.etag === etag)) return
    try {
      const view = await readStream(this.#store, name, signal)
      const text = view?.stream.find(id)?.msg
      if (text !== undefined) this.#data.putFailure({ stream: name, etag, text })
    } catch (error) {
      // The list says why it cannot be read.
      if (!(error instanceof StreamFault)) throw error
    }
  }
}

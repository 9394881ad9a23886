import { viewOf } from '../../../ops/read-stream.ts'
import { rowOf, unreadableOf } from '../../../ops/read-summary.ts'
import type { StreamSnapshot, StreamStore } from '../../../store/store.ts'
import { StreamFault } from '../../../stream/errors.ts'
import type { OpenStreamUpdate } from '../open-stream.ts'
import type { DataStore } from '../store.ts'
import { leaseNow } from '../stream-table.ts'

/** Keeps the open stream up to date: read once, then whenever its ETag changes; only its own row is listed. */
export class OpenStreamPoll {
  readonly #store: StreamStore
  readonly #data: DataStore
  #name: string | undefined
  /** Of the last read. */
  #etag: string | undefined
  #isFirst = true
  #mark: string | undefined

  constructor(store: StreamStore, data: DataStore) {
    this.#store = store
    this.#data = data
  }

  /** @param mark the store's current change token: the poll is skipped if it equals that of the last poll */
  async poll(name: string, mark: string | undefined, signal: AbortSignal): Promise<void> {
    if (name !== this.#name || this.#data.open?.presence === 'waiting') this.#start(name)
    if (mark !== undefined && mark === this.#mark) return this.#expireLease(name)
    this.#mark = undefined
    const update = this.#isFirst ? await this.#read(name, signal) : await this.#checkRow(name, signal)
    this.#data.putOpen(name, update)
    this.#isFirst = false
    this.#mark = mark
  }

  #start(name: string): void {
    this.#name = name
    this.#etag = undefined
    this.#isFirst = true
    this.#mark = undefined
  }

  async #checkRow(name: string, signal: AbortSignal): Promise<OpenStreamUpdate> {
    const listed = await rowOf(this.#store, name, signal)
    if (listed !== undefined && listed.etag !== this.#etag) return this.#read(name, signal)
    if (listed !== undefined) return { kind: 'listed', listed }
    this.#etag = undefined
    return { kind: 'missing', atMs: this.#store.nowMs() }
  }

  async #read(name: string, signal: AbortSignal): Promise<OpenStreamUpdate> {
    let stored: StreamSnapshot | undefined
    try {
      stored = await this.#store.read(name, signal)
      this.#etag = stored?.etag
      if (stored === undefined) return { kind: 'missing', atMs: this.#store.nowMs() }
      return { kind: 'view', view: viewOf(stored, this.#store.nowMs()) }
    } catch (error) {
      if (!(error instanceof StreamFault)) throw error
      const fault = unreadableOf(error)
      if (stored !== undefined) return { kind: 'unreadable', stored, fault }
      const listed = await rowOf(this.#store, name, signal)
      return listed === undefined
        ? { kind: 'missing', atMs: this.#store.nowMs() }
        : { kind: 'unreadable', listed, fault }
    }
  }

  #expireLease(name: string): void {
    const listed = this.#data.open?.listed
    if (listed === undefined) return
    const lease = leaseNow(listed.lease, this.#store.nowMs())
    if (lease !== listed.lease) this.#data.putOpen(name, { kind: 'listed', listed: { ...listed, lease } })
  }
}

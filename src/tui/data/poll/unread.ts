import { summaryOf } from '../../../ops/read-summary.ts'
import type { StreamStore } from '../../../store/store.ts'
import type { DataStore } from '../store.ts'
import type { StoreErrors } from '../store-errors.ts'

/** Documents read at a time. */
export const READS_AT_ONCE = 8

/** Lifetime of the reads. `fail` receives bugs. */
interface Run {
  readonly signal: AbortSignal
  readonly fail: (bug: unknown) => void
}

/** Reads the documents of visible streams without a valid summary. Streams that are no longer visible are skipped. */
export class UnreadDocuments {
  readonly #store: StreamStore
  readonly #data: DataStore
  readonly #errors: StoreErrors
  readonly #reading = new Set<string>()
  /** The ETag of the last read of a document: it is read again only after a change. */
  readonly #readEtags = new Map<string, string>()
  #visible: readonly string[] = []
  /** No reads until the next successful poll. */
  #isBlocked = false
  #run: Run | undefined

  constructor(store: StreamStore, data: DataStore, errors: StoreErrors) {
    this.#store = store
    this.#data = data
    this.#errors = errors
  }

  setVisible(names: readonly string[]): void {
    this.#visible = names
    this.#readMore()
  }

  /** The store has answered. */
  resume(): void {
    this.#isBlocked = false
    if (this.#visible.length === 0) this.#errors.clear('documents')
    this.#readMore()
  }

  /** Reads until the signal aborts. @throws errors that are bugs */
  run(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, fail) => {
      if (signal.aborted) return resolve()
      signal.addEventListener('abort', () => resolve(), { once: true })
      this.#run = { signal, fail }
      this.#readMore()
    })
  }

  #readMore(): void {
    if (this.#run === undefined || this.#run.signal.aborted) return
    for (const name of this.#visible) {
      if (this.#isBlocked || this.#reading.size >= READS_AT_ONCE) return
      if (this.#isToBeRead(name)) void this.#read(name, this.#run)
    }
  }

  #isToBeRead(name: string): boolean {
    const entry = this.#data.streams.get(name)
    if (entry === undefined || entry.isRead || this.#reading.has(name)) return false
    return this.#readEtags.get(name) !== entry.item.listed.etag
  }

  async #read(name: string, { signal, fail }: Run): Promise<void> {
    const row = this.#data.streams.get(name)?.item.listed ?? { name }
    const etag = 'etag' in row ? row.etag : ''
    this.#reading.add(name)
    try {
      const item = await summaryOf(this.#store, row, signal)
      this.#readEtags.set(name, etag)
      // The stream may have left the listing meanwhile.
      if (item !== undefined && this.#data.streams.get(name)) this.#data.putStreams([item], this.#store.nowMs())
      this.#errors.clear('documents')
    } catch (error) {
      this.#isBlocked = true
      if (!signal.aborted) this.#report(error, fail)
    } finally {
      this.#reading.delete(name)
    }
    this.#readMore()
  }

  #report(error: unknown, fail: Run['fail']): void {
    try {
      this.#errors.report('documents', error)
    } catch (bug) {
      fail(bug)
    }
  }
}

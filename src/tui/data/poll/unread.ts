import { summaryOf } from '../../../ops/summaries.ts'
import type { StreamStore } from '../../../store/store.ts'
import type { DataStore } from '../store.ts'
import type { Troubles } from '../store-errors.ts'

/** Documents read at a time. */
export const READS_AT_ONCE = 8

/** Lifetime of the reads. `fail` receives bugs. */
interface Run {
  readonly signal: AbortSignal
  readonly fail: (bug: unknown) => void
}

/** Reads the documents of visible streams without a valid summary. Streams that are no longer visible are skipped. */
export class UnreadLook {
  readonly #store: StreamStore
  readonly #data: DataStore
  readonly #troubles: Troubles
  readonly #under = new Set<string>()
  /** The ETag of the last read of a document: it is read again only after a change. */
  readonly #tried = new Map<string, string>()
  #wanted: readonly string[] = []
  /** No reads until the next successful poll. */
  #isBlocked = false
  #run: Run | undefined

  constructor(store: StreamStore, data: DataStore, troubles: Troubles) {
    this.#store = store
    this.#data = data
    this.#troubles = troubles
  }

  want(names: readonly string[]): void {
    this.#wanted = names
    this.#goOn()
  }

  /** The store has answered. */
  resume(): void {
    this.#isBlocked = false
    if (this.#wanted.length === 0) this.#troubles.isOver('documents')
    this.#goOn()
  }

  /** Reads until the signal aborts. @throws errors that are bugs */
  run(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, fail) => {
      if (signal.aborted) return resolve()
      signal.addEventListener('abort', () => resolve(), { once: true })
      this.#run = { signal, fail }
      this.#goOn()
    })
  }

  #goOn(): void {
    if (this.#run === undefined || this.#run.signal.aborted) return
    for (const name of this.#wanted) {
      if (this.#isBlocked || this.#under.size >= READS_AT_ONCE) return
      if (this.#isToBeRead(name)) void this.#read(name, this.#run)
    }
  }

  #isToBeRead(name: string): boolean {
    const entry = this.#data.streams.get(name)
    if (entry === undefined || entry.isRead || this.#under.has(name)) return false
    return this.#tried.get(name) !== entry.item.listed.etag
  }

  async #read(name: string, { signal, fail }: Run): Promise<void> {
    const row = this.#data.streams.get(name)?.item.listed ?? { name }
    const etag = 'etag' in row ? row.etag : ''
    this.#under.add(name)
    try {
      const item = await summaryOf(this.#store, row, signal)
      this.#tried.set(name, etag)
      // The stream may have left the listing meanwhile.
      if (item !== undefined && this.#data.streams.get(name)) this.#data.putStreams([item], this.#store.nowMs())
      this.#troubles.isOver('documents')
    } catch (error) {
      this.#isBlocked = true
      if (!signal.aborted) this.#tell(error, fail)
    } finally {
      this.#under.delete(name)
    }
    this.#goOn()
  }

  #tell(error: unknown, fail: Run['fail']): void {
    try {
      this.#troubles.tell('documents', error)
    } catch (bug) {
      fail(bug)
    }
  }
}

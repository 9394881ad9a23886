import type { Glob } from '../../../ops/glob.ts'
import { ChangedStreams, type RememberedStream } from '../../../ops/watch/changed-streams.ts'
import type { ListQuery, StreamRow, StreamStore } from '../../../store/store.ts'
import { isHeld } from '../../../stream/lease.ts'
import type { DataStore } from '../store.ts'

/** State of a stream in the previous listing. */
interface PolledStream extends RememberedStream {
  /** Its lease was held: its row is needed each time, as only the row shows when the lease ends or changes hands. */
  readonly isHeld: boolean
}

/** Keeps the table of streams up to date: one listing per poll, from which only changed rows are parsed. */
export class StreamsPoll {
  readonly #store: StreamStore
  readonly #data: DataStore
  readonly #match: Glob | undefined
  readonly #onMoved: (rows: readonly StreamRow[]) => void
  readonly #streams = new ChangedStreams<PolledStream>()
  /** The store's change token before the last complete listing. */
  #mark: string | undefined

  /** @param onMoved receives streams that are new or whose ETag changed */
  constructor(
    store: StreamStore,
    data: DataStore,
    match: Glob | undefined,
    onMoved: (rows: readonly StreamRow[]) => void,
  ) {
    this.#store = store
    this.#data = data
    this.#match = match
    this.#onMoved = onMoved
  }

  /** @param mark the store's current change token: nothing is listed if it equals that of the last listing */
  async poll(mark: string | undefined, signal: AbortSignal): Promise<void> {
    this.#data.expireLeases(this.#store.nowMs())
    if (mark !== undefined && mark === this.#mark) return
    this.#mark = undefined
    this.#streams.begin()
    for await (const page of this.#store.list(this.#query(signal))) this.#take(page)
    const gone = this.#streams.end()
    if (gone.length > 0) this.#data.removeStreams(gone.map(({ name }) => name))
    this.#data.completeStreams()
    this.#mark = mark
  }

  #query(signal: AbortSignal): ListQuery {
    const match = this.#match
    return {
      order: 'any',
      skip: (name, etag, isLeased) =>
        this.#streams.skip(name, etag, stream => stream.isHeld || isLeased()) ||
        (this.#streams.get(name) === undefined && match?.matches(name) === false),
      signal,
      ...(match && { prefix: match.prefix }),
    }
  }

  #take(page: readonly StreamRow[]): void {
    const moved = page.filter(({ name, etag }) => this.#streams.get(name)?.etag !== etag)
    for (const { name, etag, lease } of page) {
      this.#streams.take({ name: this.#streams.get(name)?.name ?? name, etag, isHeld: isHeld(lease), listing: 0 })
    }
    const nowMs = this.#store.nowMs()
    this.#data.putFreshness({ waitingSinceMs: nowMs })
    this.#data.putListed(page, nowMs)
    if (moved.length > 0) this.#onMoved(moved)
  }
}

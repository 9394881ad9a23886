import type { Glob } from '../../../ops/glob.ts'
import type { EventStore, Listed, ListQuery } from '../../../store/store.ts'
import { isHeld } from '../../../stream/lease.ts'
import type { DataStore } from '../store.ts'

/** What is kept of a stream from listing to listing. */
interface Known {
  etag: string
  /** Its lease was held: its row is wanted each time, as only that tells when the lease ends or changes hands. */
  isHeld: boolean
  /** The last listing that had it. */
  listing: number
}

/** Keeps the table of streams as the store has it: one listing a look, of which only rows that moved are made. */
export class StreamsLook {
  readonly #store: EventStore
  readonly #data: DataStore
  readonly #match: Glob | undefined
  readonly #onMoved: (rows: readonly Listed[]) => void
  readonly #known = new Map<string, Known>()
  /** Number of the listing that was begun last, and how many of the known streams it had. */
  #listing = 0
  #found = 0
  /** The mark of the store before the last whole listing. */
  #mark: string | undefined

  /** @param onMoved told of streams that are new or whose ETag moved */
  constructor(store: EventStore, data: DataStore, match: Glob | undefined, onMoved: (rows: readonly Listed[]) => void) {
    this.#store = store
    this.#data = data
    this.#match = match
    this.#onMoved = onMoved
  }

  /** @param mark of the store, from just now: nothing is listed if it still is the one of the last listing */
  async look(mark: string | undefined, signal: AbortSignal): Promise<void> {
    this.#data.expireLeases(this.#store.nowMs())
    if (mark !== undefined && mark === this.#mark) return
    this.#mark = undefined
    this.#listing++
    this.#found = 0
    for await (const page of this.#store.list(this.#query(signal))) this.#take(page)
    if (this.#found < this.#known.size) this.#dropMissing()
    this.#data.completeStreams()
    this.#mark = mark
  }

  #query(signal: AbortSignal): ListQuery {
    return {
      order: 'any',
      skip: (name, etag, isLeased) => this.#isUnmoved(name, etag, isLeased),
      signal,
      ...(this.#match && { prefix: this.#match.prefix }),
    }
  }

  #isUnmoved(name: string, etag: string, isLeased: () => boolean): boolean {
    const known = this.#known.get(name)
    if (known === undefined) return this.#match?.matches(name) === false
    if (known.etag !== etag || known.isHeld || isLeased()) return false
    this.#meet(known)
    return true
  }

  #take(page: readonly Listed[]): void {
    const moved: Listed[] = []
    for (const row of page) {
      const { name, etag, lease } = row
      const known = this.#known.get(name)
      if (known?.etag !== etag) moved.push(row)
      const now = known ?? { etag, isHeld: false, listing: 0 }
      if (known === undefined) this.#known.set(name, now)
      now.etag = etag
      now.isHeld = isHeld(lease)
      this.#meet(now)
    }
    this.#data.putListed(page, this.#store.nowMs())
    if (moved.length > 0) this.#onMoved(moved)
  }

  #meet(known: Known): void {
    if (known.listing === this.#listing) return
    known.listing = this.#listing
    this.#found++
  }

  /** Only a listing that came to its end tells what is not there. */
  #dropMissing(): void {
    const gone: string[] = []
    for (const [name, { listing }] of this.#known) if (listing !== this.#listing) gone.push(name)
    for (const name of gone) this.#known.delete(name)
    this.#data.removeStreams(gone)
  }
}

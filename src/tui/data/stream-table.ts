import type { SummarizedStream } from '../../ops/summaries.ts'
import { isHeld } from '../../store/local-lease.ts'
import type { Listed } from '../../store/store.ts'
import { entryOf, leaseNow, listedItem } from './stream-entry.ts'
import type { StreamEntry, StreamTable } from './types.ts'

/** The streams of the listing. Each method says how many entries are other ones now. */
export class StreamRows implements StreamTable {
  readonly #entries: Map<string, StreamEntry>
  /** Names of entries whose lease is held: they alone may run out of it by time. */
  readonly #held = new Set<string>()
  #revision = 0
  #membership = 0
  #isComplete = false

  constructor(from?: StreamRows) {
    this.#entries = new Map(from === undefined ? [] : from.#entries)
    if (from === undefined) return
    this.#revision = from.revision
    this.#membership = from.membership
    this.#isComplete = from.isComplete
  }

  get revision(): number {
    return this.#revision
  }

  get membership(): number {
    return this.#membership
  }

  get size(): number {
    return this.#entries.size
  }

  get isComplete(): boolean {
    return this.#isComplete
  }

  get(name: string): StreamEntry | undefined {
    return this.#entries.get(name)
  }

  values(): Iterable<StreamEntry> {
    return this.#entries.values()
  }

  putListed(rows: readonly Listed[], nowMs: number): number {
    let changed = 0
    for (const row of rows) {
      const before = this.#entries.get(row.name)
      changed += this.#put(before, listedItem(before, row), nowMs)
    }
    return changed
  }

  put(rows: readonly SummarizedStream[], nowMs: number): number {
    let changed = 0
    for (const row of rows) changed += this.#put(this.#entries.get(row.listed.name), row, nowMs)
    return changed
  }

  remove(names: Iterable<string>): number {
    let removed = 0
    for (const name of names) {
      if (!this.#entries.delete(name)) continue
      this.#held.delete(name)
      removed++
    }
    if (removed > 0) this.#membership++
    this.#revision += removed
    return removed
  }

  /** A whole listing has ended. */
  complete(): number {
    if (this.#isComplete) return 0
    this.#isComplete = true
    this.#revision++
    return 1
  }

  /** Leases whose time is over are over, though nothing was written. */
  expireLeases(nowMs: number): number {
    let changed = 0
    for (const name of this.#held) {
      const entry = this.#entries.get(name)
      if (entry === undefined) continue
      const { listed } = entry.item
      const lease = leaseNow(listed.lease, nowMs)
      if (lease !== listed.lease) changed += this.#put(entry, { ...entry.item, listed: { ...listed, lease } }, nowMs)
    }
    return changed
  }

  #put(before: StreamEntry | undefined, item: SummarizedStream, nowMs: number): 0 | 1 {
    const entry = entryOf(before, item, this.#isComplete, nowMs)
    if (entry === before) return 0
    this.#entries.set(entry.name, entry)
    if (isHeld(item.listed.lease)) this.#held.add(entry.name)
    else this.#held.delete(entry.name)
    if (before === undefined) this.#membership++
    this.#revision++
    return 1
  }
}

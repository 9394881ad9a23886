import type { StreamStore } from '../../store/store.ts'
import { placeOf } from '../store-key.ts'
import { KeyedData } from './keyed-data.ts'
import { type LookedAt, MergedData } from './merged-data.ts'
import { Poll, type PollOptions } from './poll/poll.ts'
import { DataStore } from './store.ts'
import type { Explain } from './store-errors.ts'
import type { Data, DataReader, DryRun, LiveData, StreamFailures, VisibleData } from './types.ts'

/** One of several stores. */
export interface DashboardStore {
  readonly context: string
  readonly store: StreamStore
  /** Time between two polls, ms. */
  readonly intervalMs: number
  /** Of an error of this store. */
  readonly explain: Explain
}

interface StorePart {
  readonly keyed: KeyedData
  readonly live: DataStore
  readonly poll: Poll
}

/** Several stores as the data of one dashboard. Each is polled by itself, so that one that does not answer delays no other. */
export class SeveralStores extends MergedData implements LiveData, DataReader {
  readonly #parts: readonly StorePart[]
  readonly #listeners: Set<() => void>
  readonly #looked: { dryRun: DryRun | undefined; at: LookedAt }
  #failures: StreamFailures = { count: 0, latest: undefined }

  constructor(stores: readonly DashboardStore[], options: Omit<PollOptions, 'intervalMs' | 'explain'>) {
    const parts = stores.map(({ context, store, intervalMs, explain }): StorePart => {
      const live = new DataStore()
      return {
        live,
        keyed: new KeyedData(context, live),
        poll: new Poll(store, live, { ...options, intervalMs, explain }),
      }
    })
    const looked: { dryRun: DryRun | undefined; at: LookedAt } = { dryRun: undefined, at: NOWHERE }
    super(
      parts.map(({ keyed }) => keyed),
      () => looked.dryRun,
      () => looked.at,
    )
    this.#parts = parts
    this.#looked = looked
    this.#listeners = new Set()
    for (const part of parts) part.live.onChange(() => this.#changed(part))
  }

  get failures(): StreamFailures {
    return this.#failures
  }

  snapshot(): Data {
    const { dryRun, at } = this.#looked
    const parts = this.#parts.map(({ keyed, live }) => new KeyedData(keyed.context, live.snapshot()))
    return new MergedData(
      parts,
      () => dryRun,
      () => at,
    )
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  setDryRun(dryRun: DryRun | undefined): void {
    this.#looked.dryRun = dryRun
    this.#notify()
  }

  setVisible(demand: VisibleData): void {
    const { open, failure } = demand
    const { at } = this.#looked
    this.#looked.at = {
      open: open === undefined ? at.open : placeOf(open)?.context,
      failure: failure === undefined ? at.failure : placeOf(failure)?.context,
    }
    for (const { keyed, poll } of this.#parts) {
      const names = demand.unread.map(key => keyed.nameIn(key)).filter(name => name !== undefined)
      poll.setVisible({ ...demand, open: keyed.nameIn(open), failure: keyed.nameIn(failure), unread: names })
    }
  }

  readNow(): void {
    for (const { poll } of this.#parts) poll.readNow()
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#parts.map(({ poll }) => poll.run(signal)))
  }

  #changed({ keyed, live }: StorePart): void {
    const count = sumOf(this.#parts)
    if (count !== this.#failures.count) {
      const { latest } = live.failures
      this.#failures = { count, latest: latest && { ...latest, stream: keyed.keyOf(latest.stream) } }
    }
    this.#notify()
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }
}

const NOWHERE: LookedAt = { open: undefined, failure: undefined }

function sumOf(parts: readonly StorePart[]): number {
  return parts.reduce((total, { live }) => total + live.failures.count, 0)
}

import { cached } from '../cached.ts'
import { placeOf, streamKey } from '../store-key.ts'
import type {
  Activity,
  Below,
  Data,
  InboxRow,
  OpenStream,
  StreamEntry,
  StreamLimit,
  SubscriptionRow,
  WatchdogOfStore,
  WorkerRow,
} from './types.ts'

/**
 * The data of one of several stores with the keys of its streams in place of their names. Equal objects have equal keyed
 * ones, so that what is cached by reference stays so.
 */
export class KeyedData {
  readonly context: string
  readonly data: Data
  readonly #entryOf: (entry: StreamEntry) => StreamEntry
  readonly #openOf: (open: OpenStream) => OpenStream
  readonly #activityOf: (item: Activity) => Activity

  constructor(context: string, data: Data) {
    this.context = context
    this.data = data
    this.#entryOf = cached(entry => ({ ...entry, name: this.keyOf(entry.name), store: context }))
    this.#openOf = cached(open => new KeyedStream(open, this.keyOf(open.name)))
    this.#activityOf = cached(item => ({
      ...item,
      key: this.keyOf(item.key),
      stream: this.keyOf(item.stream),
      store: context,
    }))
  }

  keyOf(stream: string): string {
    return streamKey(this.context, stream)
  }

  /** The name in a key of this store. */
  nameIn(key: string | undefined): string | undefined {
    const place = key === undefined ? undefined : placeOf(key)
    return place?.context === this.context ? place.stream : undefined
  }

  entry(name: string): StreamEntry | undefined {
    const entry = this.data.streams.get(name)
    return entry && this.#entryOf(entry)
  }

  *entries(): Iterable<StreamEntry> {
    for (const entry of this.data.streams.values()) yield this.#entryOf(entry)
  }

  get open(): OpenStream | undefined {
    const { open } = this.data
    return open && this.#openOf(open)
  }

  get failure(): Data['failure'] {
    const { failure } = this.data
    return failure && { ...failure, stream: this.keyOf(failure.stream) }
  }

  get activities(): readonly Activity[] {
    return this.data.activity.items.map(item => this.#activityOf(item))
  }

  get workers(): readonly WorkerRow[] {
    return this.data.workers.rows.map(row => ({
      ...row,
      key: this.keyOf(row.key),
      stream: this.keyOf(row.stream),
      store: this.context,
    }))
  }

  get subscriptions(): readonly SubscriptionRow[] {
    const { rows = [] } = this.data.subscriptions
    return rows.map(row => ({
      ...row,
      key: this.keyOf(row.key),
      store: this.context,
      halted: row.halted.map(one => this.#withKey(one)),
    }))
  }

  get inboxes(): readonly InboxRow[] {
    const { rows = [] } = this.data.inboxes
    return rows.map(row => ({ ...row, key: this.keyOf(row.key), store: this.context }))
  }

  limits(of: 'next' | 'notified'): readonly StreamLimit[] {
    return this.data.watchdog[of].map(limit => this.#withKey(limit))
  }

  get watchdogs(): readonly WatchdogOfStore[] {
    const { watchdogs = [] } = this.data.watchdog.state ?? {}
    return watchdogs.map(watchdog => ({
      ...watchdog,
      store: this.context,
      next: watchdog.next.map(one => this.#withKey(one)),
      decisions: watchdog.decisions.map(one => this.#withKey(one)),
    }))
  }

  #withKey<Row extends { readonly stream: string }>(row: Row): Row {
    return { ...row, stream: this.keyOf(row.stream) }
  }
}

/** An open stream under its key. */
class KeyedStream implements OpenStream {
  readonly name: string
  readonly #open: OpenStream

  constructor(open: OpenStream, key: string) {
    this.name = key
    this.#open = open
  }

  get revision(): number {
    return this.#open.revision
  }

  get presence(): OpenStream['presence'] {
    return this.#open.presence
  }

  get goneMs(): number | undefined {
    return this.#open.goneMs
  }

  get view(): OpenStream['view'] {
    return this.#open.view
  }

  get fault(): OpenStream['fault'] {
    return this.#open.fault
  }

  get listed(): OpenStream['listed'] {
    return this.#open.listed
  }

  get summary(): OpenStream['summary'] {
    return this.#open.summary
  }

  get nodes(): OpenStream['nodes'] {
    return this.#open.nodes
  }

  get tail(): OpenStream['tail'] {
    return this.#open.tail
  }

  get text(): OpenStream['text'] {
    return this.#open.text
  }

  below(at: number): Below {
    return this.#open.below(at)
  }

  event(id: string): ReturnType<OpenStream['event']> {
    return this.#open.event(id)
  }

  transactionsOf(id: string): ReturnType<OpenStream['transactionsOf']> {
    return this.#open.transactionsOf(id)
  }
}

import { mergedSteps } from '../../ops/steps.ts'
import { firstOf } from '../../util/top-n.ts'
import { placeOf } from '../store-key.ts'
import type { KeyedData } from './keyed-data.ts'
import type {
  ActivityFeed,
  Data,
  DryRun,
  Freshness,
  InboxesView,
  OpenStream,
  StreamEntry,
  StreamLimit,
  StreamTable,
  SubscriptionsView,
  WatchdogView,
  WholeFailure,
  WorkersView,
} from './types.ts'

/** Contexts of the streams that are looked at. */
export interface LookedAt {
  readonly open: string | undefined
  readonly failure: string | undefined
}

/** The data of several stores as that of one: its streams have keys instead of names. */
export class MergedData implements Data {
  readonly streams: StreamTable
  readonly #parts: readonly KeyedData[]
  readonly #dryRun: () => DryRun | undefined
  readonly #lookedAt: () => LookedAt
  readonly #activity = new Kept<ActivityFeed>()
  readonly #watchdog = new Kept<WatchdogView>()
  readonly #workers = new Kept<WorkersView>()
  readonly #subscriptions = new Kept<SubscriptionsView>()
  readonly #inboxes = new Kept<InboxesView>()

  constructor(parts: readonly KeyedData[], dryRun: () => DryRun | undefined, lookedAt: () => LookedAt) {
    this.#parts = parts
    this.#dryRun = dryRun
    this.#lookedAt = lookedAt
    this.streams = new MergedTable(parts)
  }

  get revision(): number {
    return sum(this.#parts, ({ data }) => data.revision)
  }

  get open(): OpenStream | undefined {
    return this.#partOf(this.#lookedAt().open)?.open
  }

  get failure(): WholeFailure | undefined {
    return this.#partOf(this.#lookedAt().failure)?.failure
  }

  get activity(): ActivityFeed {
    const feeds = this.#parts.map(({ data }) => data.activity)
    return this.#activity.get(feeds, () => ({
      revision: sum(feeds, ({ revision }) => revision),
      items: this.#parts.flatMap(part => part.activities).sort((a, b) => b.atMs - a.atMs),
      behind: sum(feeds, ({ behind }) => behind),
    }))
  }

  get watchdog(): WatchdogView {
    const views = this.#parts.map(({ data }) => data.watchdog)
    const dryRun = this.#dryRun()
    return this.#watchdog.get([...views, dryRun], () => ({
      revision: sum(views, ({ revision }) => revision),
      state: this.#watchdogState(),
      next: this.#limits('next', (a, b) => a.dueMs - b.dueMs),
      notified: this.#limits('notified', (a, b) => b.dueMs - a.dueMs),
      dryRun,
    }))
  }

  get workers(): WorkersView {
    const views = this.#parts.map(({ data }) => data.workers)
    return this.#workers.get(views, () => ({
      revision: sum(views, ({ revision }) => revision),
      rows: this.#parts.flatMap(part => part.workers),
      workers: sum(views, ({ workers }) => workers),
      steps: mergedSteps(views.flatMap(({ steps }) => steps)),
    }))
  }

  get subscriptions(): SubscriptionsView {
    const views = this.#parts.map(({ data }) => data.subscriptions)
    return this.#subscriptions.get(views, () => ({
      revision: sum(views, ({ revision }) => revision),
      rows: views.every(({ rows }) => rows === undefined) ? undefined : this.#parts.flatMap(part => part.subscriptions),
    }))
  }

  get inboxes(): InboxesView {
    const views = this.#parts.map(({ data }) => data.inboxes)
    return this.#inboxes.get(views, () => ({
      revision: sum(views, ({ revision }) => revision),
      rows: views.every(({ rows }) => rows === undefined) ? undefined : this.#parts.flatMap(part => part.inboxes),
    }))
  }

  /** That of the first store in trouble; else the oldest. */
  get freshness(): Freshness {
    const all = this.#parts.map(({ context, data }) => ({ ...data.freshness, store: context }))
    const failing = all.find(({ error }) => error !== undefined)
    if (failing?.error !== undefined)
      return { ...failing, error: { ...failing.error, message: `${failing.store}: ${failing.error.message}` } }
    const running = all.filter(({ waitingSinceMs }) => waitingSinceMs !== undefined)
    const [longest] = firstOf(running, 1, (a, b) => (a.waitingSinceMs ?? 0) - (b.waitingSinceMs ?? 0))
    return {
      ...longest,
      polledMs: all.some(({ polledMs }) => polledMs === undefined)
        ? undefined
        : Math.min(...all.map(({ polledMs = 0 }) => polledMs)),
      intervalMs: Math.max(...all.map(({ intervalMs }) => intervalMs)),
      isSlow: all.some(({ isSlow }) => isSlow),
      waitingSinceMs: longest?.waitingSinceMs,
      nextPollMs: Math.min(...all.flatMap(({ nextPollMs }) => nextPollMs ?? [])),
      error: undefined,
    }
  }

  #partOf(context: string | undefined): KeyedData | undefined {
    return this.#parts.find(part => part.context === context)
  }

  #limits(of: 'next' | 'notified', order: (a: StreamLimit, b: StreamLimit) => number): readonly StreamLimit[] {
    return this.#parts.flatMap(part => part.limits(of)).sort(order)
  }

  #watchdogState(): WatchdogView['state'] {
    const known = this.#parts.filter(({ data }) => data.watchdog.state !== undefined)
    if (known.length === 0) return undefined
    return {
      watchdogs: known.flatMap(part => part.watchdogs),
      damaged: known.some(({ data }) => data.watchdog.state?.damaged === true),
      stores: known.map(({ context }) => context),
    }
  }
}

/** The streams of several stores. A store that cannot be read keeps no other from being complete. */
class MergedTable implements StreamTable {
  readonly #parts: readonly KeyedData[]

  constructor(parts: readonly KeyedData[]) {
    this.#parts = parts
  }

  get revision(): number {
    return sum(this.#parts, ({ data }) => data.streams.revision)
  }

  get membership(): number {
    return sum(this.#parts, ({ data }) => data.streams.membership)
  }

  get size(): number {
    return sum(this.#parts, ({ data }) => data.streams.size)
  }

  get isComplete(): boolean {
    const isRead = ({ data }: KeyedData) => data.streams.isComplete
    return (
      this.#parts.some(isRead) && this.#parts.every(part => isRead(part) || part.data.freshness.error !== undefined)
    )
  }

  get(key: string): StreamEntry | undefined {
    const place = placeOf(key)
    if (place === undefined) return undefined
    return this.#parts.find(({ context }) => context === place.context)?.entry(place.stream)
  }

  *values(): Iterable<StreamEntry> {
    for (const part of this.#parts) yield* part.entries()
  }
}

/** A value that is made again when one of its inputs is another. */
class Kept<Value> {
  #inputs: readonly unknown[] = []
  #value: Value | undefined

  get(inputs: readonly unknown[], make: () => Value): Value {
    const isSame = inputs.length === this.#inputs.length && inputs.every((input, at) => input === this.#inputs[at])
    if (this.#value === undefined || !isSame) this.#value = make()
    this.#inputs = inputs
    return this.#value
  }
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}

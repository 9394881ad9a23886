import type { SummarizedStream } from '../../ops/summaries.ts'
import type { StreamRow } from '../../store/store.ts'
import { type OpenStreamUpdate, unreadStream, withUpdate } from './open-stream.ts'
import { StreamRows } from './stream-table.ts'
import type {
  Activity,
  ActivityFeed,
  Data,
  DryRun,
  Freshness,
  InboxesView,
  LiveData,
  OpenStream,
  StreamFailures,
  StreamTable,
  SubscriptionsView,
  WatchdogView,
  WholeFailure,
  WorkersView,
} from './types.ts'
import type { WorkerRates } from './worker-rates.ts'

/**
 * The dashboard's data as it arrives. Everything except the table is an immutable value; a `snapshot` freezes the table
 * too. Listeners are called at once after each visible change.
 */
export class DataStore implements LiveData {
  readonly #rows = new StreamRows()
  readonly #listeners = new Set<() => void>()
  #revision = 0
  #open: OpenStream | undefined
  #failure: WholeFailure | undefined
  #activity: ActivityFeed = { revision: 0, items: [], behind: 0 }
  #watchdog: WatchdogView = { revision: 0, state: undefined, next: [], notified: [], dryRun: undefined }
  #workers: WorkersView = { revision: 0, rows: [], workers: 0, steps: [] }
  #subscriptions: SubscriptionsView = { revision: 0, rows: undefined }
  #inboxes: InboxesView = { revision: 0, rows: undefined }
  #freshness: Freshness = FRESH

  get revision(): number {
    return this.#revision
  }

  get streams(): StreamTable {
    return this.#rows
  }

  get open(): OpenStream | undefined {
    return this.#open
  }

  get failure(): WholeFailure | undefined {
    return this.#failure
  }

  get activity(): ActivityFeed {
    return this.#activity
  }

  get watchdog(): WatchdogView {
    return this.#watchdog
  }

  get workers(): WorkersView {
    return this.#workers
  }

  get subscriptions(): SubscriptionsView {
    return this.#subscriptions
  }

  get inboxes(): InboxesView {
    return this.#inboxes
  }

  /** What workers have ended lately. */
  get workerRates(): WorkerRates {
    return this.#rows.workerRates
  }

  /** Failures seen so far. */
  get failures(): StreamFailures {
    return this.#rows.failures
  }

  get freshness(): Freshness {
    return this.#freshness
  }

  /** An immutable copy of the data. */
  snapshot(): Data {
    const { revision, open, failure, activity, watchdog, workers, subscriptions, inboxes, freshness } = this
    const streams = new StreamRows(this.#rows)
    return { revision, streams, open, failure, activity, watchdog, workers, subscriptions, inboxes, freshness }
  }

  /** @returns a function that removes the listener */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Rows of a listing, also those without a summary. @param nowMs the store's clock */
  putListed(rows: readonly StreamRow[], nowMs: number): void {
    this.#changed(this.#rows.putListed(rows, nowMs))
  }

  /** Streams with their summaries. @param nowMs the store's clock */
  putStreams(rows: readonly SummarizedStream[], nowMs: number): void {
    this.#changed(this.#rows.put(rows, nowMs))
  }

  /** Removed streams. */
  removeStreams(names: Iterable<string>): void {
    this.#changed(this.#rows.remove(names))
  }

  /** A complete listing has ended: streams not in it do not exist. */
  completeStreams(): void {
    this.#changed(this.#rows.complete())
  }

  /** Marks leases that have expired by now, without a write. */
  expireLeases(nowMs: number): void {
    this.#changed(this.#rows.expireLeases(nowMs))
  }

  /** Opens another stream, of which nothing is known yet. The open one is left unchanged. */
  openStream(name: string): void {
    if (this.#open?.name === name) return
    this.#open = unreadStream(name, this.#revision)
    this.#changed(1)
  }

  /** The result of a poll of the open stream; ignored if another one is open by now. */
  putOpen(name: string, update: OpenStreamUpdate): void {
    if (this.#open?.name !== name) return
    const next = withUpdate(this.#open, update)
    if (next === this.#open) return
    this.#open = next
    this.#changed(1)
  }

  putFailure(failure: WholeFailure): void {
    this.#failure = failure
    this.#changed(1)
  }

  putActivity(items: readonly Activity[], behind: number): void {
    const { revision, items: before, behind: left } = this.#activity
    if (items === before && behind === left) return
    this.#activity = { revision: revision + 1, items, behind }
    this.#changed(1)
  }

  putWatchdog(news: Partial<Pick<WatchdogView, 'state' | 'next' | 'notified'>>): void {
    this.#watchdog = { ...this.#watchdog, ...news, revision: this.#watchdog.revision + 1 }
    this.#changed(1)
  }

  putWorkers(workers: Omit<WorkersView, 'revision'>): void {
    this.#workers = { ...workers, revision: this.#workers.revision + 1 }
    this.#changed(1)
  }

  putSubscriptions(rows: NonNullable<SubscriptionsView['rows']>): void {
    this.#subscriptions = { rows, revision: this.#subscriptions.revision + 1 }
    this.#changed(1)
  }

  putInboxes(rows: NonNullable<InboxesView['rows']>): void {
    this.#inboxes = { rows, revision: this.#inboxes.revision + 1 }
    this.#changed(1)
  }

  setDryRun(dryRun: DryRun | undefined): void {
    this.#watchdog = { ...this.#watchdog, dryRun, revision: this.#watchdog.revision + 1 }
    this.#changed(1)
  }

  /** Updates how fresh the data is. Listeners are not called for times alone: the screen has its own clock. */
  putFreshness(news: Partial<Freshness>): void {
    const before = this.#freshness
    this.#freshness = { ...before, ...news }
    if (isOther(before, this.#freshness)) this.#notify()
  }

  #changed(count: number): void {
    if (count === 0) return
    this.#revision += count
    this.#notify()
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }
}

const FRESH: Freshness = {
  polledMs: undefined,
  intervalMs: 0,
  isSlow: false,
  waitingSinceMs: undefined,
  nextPollMs: undefined,
  error: undefined,
}

function isOther(a: Freshness, b: Freshness): boolean {
  return (
    (a.polledMs === undefined) !== (b.polledMs === undefined) ||
    a.isSlow !== b.isSlow ||
    a.error?.code !== b.error?.code ||
    a.error?.message !== b.error?.message
  )
}

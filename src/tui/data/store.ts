import type { SummarizedStream } from '../../ops/summaries.ts'
import type { WatchdogState } from '../../ops/watchdog-state/state.ts'
import type { StreamRow } from '../../store/store.ts'
import { type OpenStreamUpdate, openedStream, withGlimpse } from './open-stream.ts'
import { StreamRows } from './stream-table.ts'
import type { Activity, ActivityFeed, Data, DryRun, Freshness, OpenStream, StreamTable, WatchdogView } from './types.ts'

/**
 * What the dashboard knows, as it comes in. Everything in it but the table is a value that is replaced; of the table a
 * `snapshot` is a value. Listeners are told at once, after each call that changed what may be seen.
 */
export class DataStore implements Data {
  readonly #rows = new StreamRows()
  readonly #listeners = new Set<() => void>()
  #revision = 0
  #open: OpenStream | undefined
  #activity: ActivityFeed = { revision: 0, items: [], behind: 0 }
  #watchdog: WatchdogView = { revision: 0, state: undefined, next: [], dryRun: undefined }
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

  get activity(): ActivityFeed {
    return this.#activity
  }

  get watchdog(): WatchdogView {
    return this.#watchdog
  }

  get freshness(): Freshness {
    return this.#freshness
  }

  /** All of it as it is now. Later calls change nothing of it. */
  snapshot(): Data {
    const { revision, open, activity, watchdog, freshness } = this
    return { revision, streams: new StreamRows(this.#rows), open, activity, watchdog, freshness }
  }

  /** @returns what ends the listening */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Rows of a listing, those without a summary too. @param nowMs the store's clock */
  putListed(rows: readonly StreamRow[], nowMs: number): void {
    this.#changed(this.#rows.putListed(rows, nowMs))
  }

  /** Streams with what is known of them. @param nowMs the store's clock */
  putStreams(rows: readonly SummarizedStream[], nowMs: number): void {
    this.#changed(this.#rows.put(rows, nowMs))
  }

  /** Streams that are not there any more. */
  removeStreams(names: Iterable<string>): void {
    this.#changed(this.#rows.remove(names))
  }

  /** A whole listing has ended: what was not in it is not there. */
  completeStreams(): void {
    this.#changed(this.#rows.complete())
  }

  /** Leases that have run out by now are shown so, though nothing was written. */
  expireLeases(nowMs: number): void {
    this.#changed(this.#rows.expireLeases(nowMs))
  }

  /** Another stream is open from now on; nothing of it is known. The same one stays as it is. */
  openStream(name: string): void {
    if (this.#open?.name === name) return
    this.#open = openedStream(name, this.#revision)
    this.#changed(1)
  }

  /** What a look at the open stream has shown. Of a stream that is not open any more nothing is kept. */
  putOpen(name: string, glimpse: OpenStreamUpdate): void {
    if (this.#open?.name !== name) return
    const next = withGlimpse(this.#open, glimpse)
    if (next === this.#open) return
    this.#open = next
    this.#changed(1)
  }

  putActivity(items: readonly Activity[], behind: number): void {
    const { revision, items: before, behind: left } = this.#activity
    if (items === before && behind === left) return
    this.#activity = { revision: revision + 1, items, behind }
    this.#changed(1)
  }

  putWatchdog(news: { readonly state?: WatchdogState; readonly next?: WatchdogView['next'] }): void {
    this.#watchdog = { ...this.#watchdog, ...news, revision: this.#watchdog.revision + 1 }
    this.#changed(1)
  }

  setDryRun(dryRun: DryRun | undefined): void {
    this.#watchdog = { ...this.#watchdog, dryRun, revision: this.#watchdog.revision + 1 }
    this.#changed(1)
  }

  /** How old what is seen is. Times that merely go on are no change: whoever shows them has a clock. */
  putFreshness(news: Partial<Freshness>): void {
    const before = this.#freshness
    this.#freshness = { ...before, ...news }
    if (isOther(before, this.#freshness)) this.#tell()
  }

  #changed(count: number): void {
    if (count === 0) return
    this.#revision += count
    this.#tell()
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}

const FRESH: Freshness = {
  seenMs: undefined,
  intervalMs: 0,
  isSlow: false,
  lookingSinceMs: undefined,
  trouble: undefined,
}

function isOther(a: Freshness, b: Freshness): boolean {
  return (
    (a.seenMs === undefined) !== (b.seenMs === undefined) ||
    a.isSlow !== b.isSlow ||
    a.trouble?.code !== b.trouble?.code ||
    a.trouble?.message !== b.trouble?.message
  )
}

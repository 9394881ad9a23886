import { readStream, type StreamView } from '../../../ops/read-stream.ts'
import type { StreamRow, StreamStore } from '../../../store/store.ts'
import { StreamFault } from '../../../stream/errors.ts'
import { firstOf } from '../../../util/top-n.ts'
import type { DataStore } from '../store.ts'
import type { Activity } from '../types.ts'
import { READS_AT_ONCE } from './unread.ts'

/** Journals read at most in one poll: those of the streams that changed last. */
const JOURNALS_PER_POLL = 40

/** A stream with new journal entries. */
type ChangedStream = Pick<StreamRow, 'name' | 'etag' | 'modifiedMs'>

/** Position up to which a stream was read. */
interface Read extends Bookmark {
  readonly etag: string
}

/** Keeps the activity feed: first the streams that changed last, then those that change, the latest first. */
export class ActivityPoll {
  readonly #store: StreamStore
  readonly #data: DataStore
  readonly #pending = new Map<string, ChangedStream>()
  readonly #read = new Map<string, Read>()
  #isWanted = false

  constructor(store: StreamStore, data: DataStore) {
    this.#store = store
    this.#data = data
  }

  /** Takes changed streams; ignored while the feed is not visible. */
  addChanged(rows: readonly StreamRow[]): void {
    if (!this.#isWanted) return
    for (const { name, etag, modifiedMs } of rows) this.#pending.set(name, { name, etag, modifiedMs })
  }

  /** The feed is no longer visible. */
  stop(): void {
    this.#isWanted = false
    this.#pending.clear()
  }

  /** Reads some of the new entries. Call it after the streams were polled. */
  async poll(signal: AbortSignal): Promise<void> {
    if (!this.#isWanted) this.#start()
    const next = firstOf(this.#pending.values(), JOURNALS_PER_POLL, byLastChange)
    for (let at = 0; at < next.length; at += READS_AT_ONCE) {
      await this.#readSome(next.slice(at, at + READS_AT_ONCE), signal)
    }
    this.#data.putActivity(this.#data.activity.items, this.#pending.size)
  }

  #start(): void {
    this.#isWanted = true
    const rows = Array.from(this.#data.streams.values(), ({ item }) => item.listed)
    const unread = firstOf(rows, JOURNALS_PER_POLL, byLastChange)
    for (const row of unread) if (this.#read.get(row.name)?.etag !== row.etag) this.addChanged([row])
  }

  /** If one of them cannot be read now, all are read again. */
  async #readSome(some: readonly ChangedStream[], signal: AbortSignal): Promise<void> {
    const read = await Promise.all(some.map(moved => this.#viewOf(moved, signal)))
    const news = read.flatMap(view => (view === undefined ? [] : this.#newsOf(view)))
    for (const { name, etag } of some) if (this.#pending.get(name)?.etag === etag) this.#pending.delete(name)
    const items = withNews(this.#data.activity.items, news, new Set(some.map(({ name }) => name)))
    this.#data.putActivity(items, this.#pending.size)
  }

  /** Unreadable streams have no news. */
  async #viewOf({ name }: ChangedStream, signal: AbortSignal): Promise<StreamView | undefined> {
    try {
      return await readStream(this.#store, name, signal)
    } catch (error) {
      if (error instanceof StreamFault) return undefined
      throw error
    }
  }

  #newsOf(view: StreamView): readonly Activity[] {
    const { name, document, stored } = view
    const known = this.#read.get(name)
    this.#read.set(name, { etag: stored.etag, born: document.born, version: document.version })
    return newsOf(view, known)
  }
}

function byLastChange(a: ChangedStream, b: ChangedStream): number {
  return b.modifiedMs - a.modifiedMs
}

/** Activities kept at most. */
const ACTIVITIES_KEPT = 1_000

/** Position up to which the journal of a stream was read. */
interface Bookmark {
  readonly born: string
  readonly version: number
}

/** Nothing read yet. */
const NO_BOOKMARK: Bookmark = { born: '', version: 0 }

/** The journal entries after the bookmark, oldest first: at most as many as are kept of all streams. */
function newsOf(view: StreamView, { born, version }: Bookmark = NO_BOOKMARK): readonly Activity[] {
  const { name, document, stored } = view
  const from = document.born === born ? version : 0
  return view
    .transactions()
    .filter(tx => tx.provisional || tx.version > from)
    .slice(-ACTIVITIES_KEPT)
    .map(tx => ({
      // A provisional entry has the version of the last recorded one.
      key: `${name}@${tx.version}${tx.provisional ? '+' : ''}`,
      stream: name,
      atMs: view.time(tx.at) ?? stored.modifiedMs,
      tx,
    }))
}

/**
 * The latest entries of both, latest first. A provisional entry is kept only until its stream is read again.
 *
 * @param read the streams read since
 */
function withNews(
  before: readonly Activity[],
  news: readonly Activity[],
  read: ReadonlySet<string>,
): readonly Activity[] {
  const old = before.filter(({ stream, tx }) => !tx.provisional || !read.has(stream))
  if (news.length === 0 && old.length === before.length) return before
  const byKey = new Map<string, Activity>()
  for (const item of [...old].reverse()) byKey.set(item.key, item)
  for (const item of news) {
    byKey.delete(item.key)
    byKey.set(item.key, item)
  }
  // Simultaneous entries stay in the order in which they were found.
  return [...byKey.values()]
    .reverse()
    .sort((a, b) => b.atMs - a.atMs)
    .slice(0, ACTIVITIES_KEPT)
}

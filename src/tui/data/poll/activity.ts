import { type JournalEntry, readStream, type StreamView } from '../../../ops/read-stream.ts'
import type { StreamRow, StreamStore } from '../../../store/store.ts'
import { StreamFault } from '../../../stream/errors.ts'
import { ownText } from '../../../util/strings.ts'
import { firstOf } from '../../../util/top-n.ts'
import type { DataStore } from '../store.ts'
import type { Activity } from '../types.ts'
import { READS_AT_ONCE } from './unread.ts'

/** Journals read at most in one poll: those of the streams that changed last. */
const JOURNALS_PER_POLL = 40

/** No further journals are begun in a poll after this time, ms: large ones take long to parse. */
const READING_MS = 80

/** A stream with new journal entries. */
interface ChangedStream extends Pick<StreamRow, 'name' | 'etag' | 'modifiedMs'> {
  /** Something has failed lately: its journal is read before others. */
  readonly failedAtMs: number
}

/** Position up to which a stream was read. */
interface Read extends Bookmark {
  readonly etag: string
}

/** Keeps the activity feed: first the streams that changed last, then those that change, the latest first. */
export class ActivityPoll {
  readonly #store: StreamStore
  readonly #data: DataStore
  readonly #monotonicMs: () => number
  readonly #pending = new Map<string, ChangedStream>()
  readonly #read = new Map<string, Read>()
  #isWanted = false

  constructor(store: StreamStore, data: DataStore, monotonicMs: () => number) {
    this.#store = store
    this.#data = data
    this.#monotonicMs = monotonicMs
  }

  /** Takes changed streams; ignored while the feed is not visible. */
  addChanged(rows: readonly StreamRow[]): void {
    if (!this.#isWanted) return
    for (const row of rows) this.#pending.set(row.name, changedStream(row))
  }

  /** The feed is no longer visible. */
  stop(): void {
    this.#isWanted = false
    this.#pending.clear()
  }

  /** Reads some of the new entries. Call it after the streams were polled. */
  async poll(signal: AbortSignal): Promise<void> {
    if (!this.#isWanted) this.#start()
    const next = firstOf(this.#pending.values(), JOURNALS_PER_POLL, failedFirst(this.#store.nowMs()))
    const startMs = this.#monotonicMs()
    for (let at = 0; at < next.length && this.#monotonicMs() - startMs < READING_MS; at += READS_AT_ONCE) {
      await this.#readSome(next.slice(at, at + READS_AT_ONCE), signal)
    }
    this.#data.putActivity(this.#data.activity.items, this.#pending.size)
  }

  #start(): void {
    this.#isWanted = true
    const rows = Array.from(this.#data.streams.values(), ({ item }) => item.listed)
    const latest = firstOf(rows, JOURNALS_PER_POLL, byLastChange)
    const failed = firstOf(
      rows.filter(({ summary }) => summary?.failedAtMs !== undefined),
      JOURNALS_PER_POLL,
      (a, b) => changedStream(b).failedAtMs - changedStream(a).failedAtMs,
    )
    for (const row of [...latest, ...failed]) if (this.#read.get(row.name)?.etag !== row.etag) this.addChanged([row])
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
    // Kept long: a slice of the document or of a listing would keep all of it.
    this.#read.set(ownText(name), {
      etag: ownText(stored.etag),
      born: ownText(document.born),
      version: document.version,
    })
    return newsOf(view, known)
  }
}

function changedStream({ name, etag, modifiedMs, summary }: StreamRow): ChangedStream {
  return { name, etag, modifiedMs, failedAtMs: summary?.failedAtMs ?? Number.NEGATIVE_INFINITY }
}

function byLastChange(a: Pick<StreamRow, 'modifiedMs'>, b: Pick<StreamRow, 'modifiedMs'>): number {
  return b.modifiedMs - a.modifiedMs
}

/** Streams in which something has failed within this time are read first, ms. */
const LATELY_MS = 60_000

function failedFirst(nowMs: number): (a: ChangedStream, b: ChangedStream) => number {
  const hasFailed = ({ failedAtMs }: ChangedStream) => Number(failedAtMs > nowMs - LATELY_MS)
  return (a, b) => hasFailed(b) - hasFailed(a) || byLastChange(a, b)
}

/** Journal entries taken from a stream at most. */
const ACTIVITIES_KEPT = 1_000
/** Activities kept at most of each kind: no kind takes the place of another. */
const KEPT: { readonly [Of in ActivityKind]: number } = { failure: 500, change: 700, routine: 100 }

type ActivityKind = 'failure' | 'change' | 'routine'

/** `routine` changes no status: signs of life, attributes. */
function kindOf({ tx: { op, changes, provisional } }: Activity): ActivityKind {
  if (provisional || op === 'foreign' || FAILURES.has(op) || changes.some(({ to }) => FAILED.has(to))) return 'failure'
  return ROUTINE.has(op) ? 'routine' : 'change'
}

const FAILURES: ReadonlySet<string> = new Set(['fail', 'abort', 'cancel', 'timeout'])
const FAILED: ReadonlySet<string> = new Set(['aborted', 'canceled'])
const ROUTINE: ReadonlySet<string> = new Set(['set', 'touch'])

/** The latest of each kind, in the same order. */
function keepEachKind(items: readonly Activity[]): readonly Activity[] {
  const left: { [Of in ActivityKind]: number } = { ...KEPT }
  return items.filter(item => left[kindOf(item)]-- > 0)
}

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
      tx: ownCopy(tx),
    }))
}

/** A copy in its own memory: texts sliced from a document would keep all of it. */
function ownCopy(tx: JournalEntry): JournalEntry {
  return JSON.parse(JSON.stringify(tx)) as JournalEntry
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
  return keepEachKind([...byKey.values()].reverse().sort((a, b) => b.atMs - a.atMs))
}

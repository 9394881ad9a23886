import type { JournalEntry, StreamView } from '../../ops/read-stream.ts'
import type { SummarizedStream } from '../../ops/summaries.ts'
import type { WatchdogState } from '../../ops/watchdog-state/state.ts'
import type { StreamEvent } from '../../stream/event.ts'

/**
 * The dashboard's data. Entries are replaced, never mutated, so a reference is a snapshot. All times are the store's
 * clock, epoch ms. Texts are raw.
 */
export interface Data {
  /** Counts visible changes; freshness is not included. */
  readonly revision: number
  readonly streams: StreamTable
  /** The last open stream. */
  readonly open: OpenStream | undefined
  readonly activity: ActivityFeed
  readonly watchdog: WatchdogView
  readonly freshness: Freshness
}

/** A stream of the listing. */
export interface StreamEntry {
  readonly name: string
  readonly item: SummarizedStream
  /**
   * False while the document of a stream without a valid summary is unread. `item` then has the last known data, or
   * none.
   */
  readonly isRead: boolean
  /** Number of changes in each of the last time slots, the latest last; see `PULSE`. */
  readonly rate: readonly number[]
  /** Number of the last slot of `rate`, counted from the epoch. */
  readonly rateSlot: number
  /** When its lease was taken: according to the holder, else when it was first seen held. */
  readonly leasedSinceMs: number | undefined
}

/** Time slots of the sparkline. */
export const RATE_SLOTS = { count: 8, slotMs: 15_000 } as const

export interface StreamTable {
  /** Counts changes of entries. */
  readonly revision: number
  /** Counts streams added or removed. */
  readonly membership: number
  readonly size: number
  /** A complete listing has ended: streams not in it do not exist. */
  readonly isComplete: boolean
  get(name: string): StreamEntry | undefined
  /** In no particular order. */
  values(): Iterable<StreamEntry>
}

/** One line of the thread tree of the open stream, regardless of folding. */
export interface TreeNode {
  /** Unique in the tree: the event's id, with a number appended where an id is repeated. */
  readonly key: string
  readonly id: string
  readonly depth: number
  /** Position of the event above it; -1 for a root. */
  readonly parent: number
  /** Position after its subtree: `at + 1` for a leaf. */
  readonly end: number
  /** The event is listed above already: a cycle or a second path to it. */
  readonly again: boolean
}

/** Counts of the events below an event, without superseded ones. */
export interface Below {
  /** Completed, of all. */
  readonly done: number
  readonly failed: number
  readonly total: number
}

/**
 * - `waiting`: not read yet.
 * - `missing`: no blob of this name so far.
 * - `there`.
 * - `unreadable`: `fault` says why, `text` is the content of the blob; `view` is the last readable state.
 * - `gone`: removed; `view` is its last state.
 */
export type Presence = 'waiting' | 'missing' | 'there' | 'unreadable' | 'gone'

/** The stream of the second screen. */
export interface OpenStream {
  readonly name: string
  readonly revision: number
  readonly presence: Presence
  /** When it was first seen to be removed, if known. */
  readonly goneMs?: number | undefined
  readonly view: StreamView | undefined
  readonly fault: { readonly code: string; readonly message: string } | undefined
  /** Its latest row of the listing: lease and ETag. `undefined` when it does not exist. */
  readonly listed: SummarizedStream['listed'] | undefined
  readonly summary: SummarizedStream['summary']
  /** The whole tree in order. The same array while its structure is unchanged. */
  readonly nodes: readonly TreeNode[]
  /** Counts below the node at this position. */
  below(at: number): Below
  /** The current event with this id. */
  event(id: string): StreamEvent | undefined
  /** The latest transactions, oldest first, at most `TAIL_LENGTH`. */
  readonly tail: readonly JournalEntry[]
  /** The transactions about an event, oldest first. */
  transactionsOf(id: string): readonly JournalEntry[]
  /** The text of the blob in lines; not parsed. */
  readonly text: readonly string[]
}

export const TAIL_LENGTH = 500

/** One transaction of one stream. */
export interface Activity {
  /** `name@version`, unique. */
  readonly key: string
  readonly stream: string
  readonly atMs: number
  readonly tx: JournalEntry
}

/** The activity feed: who did what, when and why; read while its screen is visible. */
export interface ActivityFeed {
  readonly revision: number
  /** The latest first, bounded. */
  readonly items: readonly Activity[]
  /** Number of changed streams that are still to be read. */
  readonly behind: number
}

/** Data of the watchdog screen; read while it is visible. */
export interface WatchdogView {
  readonly revision: number
  /** `undefined` before the first answer. */
  readonly state: WatchdogState | undefined
  /** The soonest limits of all streams, soonest first, whoever watches them. */
  readonly next: readonly { readonly stream: string; readonly dueMs: number }[]
  /** The requested dry run of a watchdog's pass. */
  readonly dryRun: DryRun | undefined
}

/** What a watchdog's pass would do. */
export type DryRun =
  | { readonly kind: 'running'; readonly sinceMs: number }
  | { readonly kind: 'failed'; readonly message: string }
  | {
      readonly kind: 'done'
      readonly atMs: number
      readonly tookMs: number
      readonly total: number
      /** Safe text, one line per decision. */
      readonly decisions: readonly string[]
      /** Why the circuit breaker would stop it; `undefined` if it would not. */
      readonly breaker: string | undefined
    }

/** Freshness of the displayed data. */
export interface Freshness {
  /** Start of the last successful poll; `undefined` before the first. */
  readonly polledMs: number | undefined
  /** Time between two polls, ms: longer than requested if the store is slow. */
  readonly intervalMs: number
  readonly isSlow: boolean
  /** Start of the running poll. */
  readonly pollStartedMs: number | undefined
  /** The current error of the store. */
  readonly error: { readonly sinceMs: number; readonly code: string; readonly message: string } | undefined
}

/** What is visible, and so has to be read. */
export interface VisibleData {
  /** The listing of all streams. */
  readonly streams: boolean
  /** The stream that is open on the screen. */
  readonly open: string | undefined
  /** Visible streams of which only the row of the listing is known. */
  readonly unread: readonly string[]
  readonly activity: boolean
  readonly watchdog: boolean
}

/** Nothing is visible. */
export const NOTHING_VISIBLE: VisibleData = {
  streams: false,
  open: undefined,
  unread: [],
  activity: false,
  watchdog: false,
}

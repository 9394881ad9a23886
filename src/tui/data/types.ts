import type { InboxView, UnreadableInbox } from '../../inbox/view.ts'
import type { EventLimit, LimitAction } from '../../ops/event-limits.ts'
import type { JournalEntry, StreamView } from '../../ops/read-stream.ts'
import type { StepLoad } from '../../ops/steps.ts'
import type { SummarizedStream } from '../../ops/summaries.ts'
import type { WatchdogEntry, WatchdogState } from '../../ops/watchdog-state/state.ts'
import type { StreamEvent } from '../../stream/event.ts'
import type { RunningEvent } from '../../stream/summary-items.ts'
import type { LimitKind } from '../../stream/time/deadlines.ts'
import type { SubscriptionView } from '../../subscriptions/read.ts'
import type { HaltedStream } from '../../subscriptions/types.ts'

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
  /** The stream that was last read for a text: its summary has only the beginning of its first failure. */
  readonly failure: WholeFailure | undefined
  readonly activity: ActivityFeed
  readonly watchdog: WatchdogView
  readonly workers: WorkersView
  readonly subscriptions: SubscriptionsView
  readonly inboxes: InboxesView
  readonly freshness: Freshness
}

/** A stream that was read for a text: what its first failed event says, and its events. */
export interface WholeFailure {
  readonly stream: string
  /** Of the document that it was read from. */
  readonly etag: string
  /** `''` without a failure. */
  readonly text: string
  readonly view: StreamView
}

/** A stream of the listing. */
export interface StreamEntry {
  /** Its name; of several stores its key, see `streamKey`. */
  readonly name: string
  /** The context of its store, among several. */
  readonly store?: string
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
  /** Its state before the latest changes, which are shown for a second from this time on. */
  readonly previous?: { readonly item: SummarizedStream; readonly atMs: number } | undefined
}

/** For how long what has changed is marked, ms. */
export const CHANGE_SHOWN_MS = 1_000

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
  /** Position of the event in the stream; -1 if the stream has none of this id. */
  readonly position: number
  readonly depth: number
  /** Position in the tree of the event above it; -1 for a root. */
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
  /** Aborted. */
  readonly failed: number
  readonly canceled: number
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
  /** The context of its store, among several. */
  readonly store?: string
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
  readonly state: WatchdogsOfStores | undefined
  /** The soonest limits of all streams, soonest first, whoever watches them. */
  readonly next: readonly StreamLimit[]
  /** Limits that have passed and that a watchdog only tells of, the latest first: nothing ends these events. */
  readonly notified: readonly StreamLimit[]
  /** The requested dry run of a watchdog's pass. */
  readonly dryRun: DryRun | undefined
}

/** A watchdog, with the context of its store among several. */
export type WatchdogOfStore = WatchdogEntry & { readonly store?: string }

/** What the watchdogs of one or several stores have written last. */
export interface WatchdogsOfStores extends WatchdogState {
  readonly watchdogs: readonly WatchdogOfStore[]
  /** The contexts of several stores whose states are known. */
  readonly stores?: readonly string[]
}

/** A limit of a stream. */
export interface StreamLimit {
  readonly stream: string
  readonly dueMs: number
  /** `undefined` until the document is read, and if it cannot be. */
  readonly limit: EventLimit | undefined
  /** The document was read, and has no such limit that can be understood. */
  readonly isUnknown?: boolean
}

/** What a watchdog's pass would do to a stream. */
export interface PlannedDecision {
  readonly stream: string
  readonly action: LimitAction | 'settle'
  /** Absent for `settle`. */
  readonly event?: string
  readonly name?: string
  readonly kind?: LimitKind
  readonly dueMs?: number
  /** Number of open events that it ends. */
  readonly ends: number
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
      /** The first ones. */
      readonly decisions: readonly PlannedDecision[]
      /** Why the circuit breaker would stop it; `undefined` if it would not. */
      readonly breaker: string | undefined
      /** Of several stores, those in which no pass could be made, and why. */
      readonly fault?: string
    }

/** What workers have in hand; counted while its screen is visible. */
export interface WorkersView {
  readonly revision: number
  /** In no particular order. */
  readonly rows: readonly WorkerRow[]
  /** Number of workers with claims. */
  readonly workers: number
  /** That without a name has the events that the summaries of large streams only count. */
  readonly steps: readonly StepLoad[]
}

/** An event that a worker has claimed, or what a worker without claims has ended last. */
export interface WorkerRow {
  readonly key: string
  /** `''` for workers that make no claims. */
  readonly owner: string
  readonly stream: string
  /** The context of its store, among several. */
  readonly store?: string
  /** Id of the event, if known. */
  readonly event: string | undefined
  /** Absent for a worker without claims. */
  readonly claim: RunningEvent | undefined
  /** When a worker without claims has ended its last event, epoch ms. */
  readonly atMs: number | undefined
  /** Events that the worker has completed and failed in the last minute. */
  readonly done: number
  readonly failed: number
}

/** The subscriptions; read while their screen is visible. */
export interface SubscriptionsView {
  readonly revision: number
  /** `undefined` before the first answer. */
  readonly rows: readonly SubscriptionRow[] | undefined
}

/** A subscription, with what does not go on in it. */
export interface SubscriptionRow {
  /** Its name; of several stores with the context before it. */
  readonly key: string
  /** The context of its store, among several. */
  readonly store?: string
  readonly view: SubscriptionView
  /** Its waiting and parked streams. */
  readonly halted: readonly HaltedStream[]
  /** Its latest lags, ms, the last one the latest; seen while the screen was visible. */
  readonly lags: readonly number[]
}

/** The inboxes; read while their screen is visible. */
export interface InboxesView {
  readonly revision: number
  /** `undefined` before the first answer. */
  readonly rows: readonly InboxRow[] | undefined
}

/** An inbox with its partitions. */
export interface InboxRow {
  /** Its name; of several stores with the context before it. */
  readonly key: string
  /** The context of its store, among several. */
  readonly store?: string
  readonly view: InboxView | UnreadableInbox
  /** What waited, and the age of its oldest record, the last one the latest; seen while the screen was visible. */
  readonly lags: readonly { readonly records: number; readonly ageMs: number }[]
}

/** Freshness of the displayed data. */
export interface Freshness {
  /** Start of the last successful poll; `undefined` before the first. */
  readonly polledMs: number | undefined
  /** Time between two polls, ms: longer than requested if the store is slow. */
  readonly intervalMs: number
  readonly isSlow: boolean
  /** Since when the running poll waits for an answer: a long listing answers page by page. */
  readonly waitingSinceMs: number | undefined
  /** When the next poll starts by itself. */
  readonly nextPollMs: number | undefined
  /** Of several stores, the one that this is about: the first in trouble. */
  readonly store?: string
  /** The current error of the store. */
  readonly error: { readonly sinceMs: number; readonly code: string; readonly message: string } | undefined
}

/** The data as it changes. */
export interface LiveData extends Data {
  /** Failures seen so far. */
  readonly failures: StreamFailures
  /** An immutable copy of the data. */
  snapshot(): Data
  /** @returns a function that removes the listener */
  onChange(listener: () => void): () => void
  setDryRun(dryRun: DryRun | undefined): void
}

/** Events that have failed since the first complete listing. */
export interface StreamFailures {
  readonly count: number
  readonly latest: { readonly stream: string; readonly text: string } | undefined
}

/** Reads what is visible. */
export interface DataReader {
  /** Sets the visible data. Cheap enough for every frame. */
  setVisible(demand: VisibleData): void
  /** Polls at once, or once more after the running poll. */
  readNow(): void
  /** Polls until the signal aborts. Store errors are shown. @throws errors that are bugs */
  run(signal: AbortSignal): Promise<void>
}

/** What is visible, and so has to be read. */
export interface VisibleData {
  /** The listing of all streams. */
  readonly streams: boolean
  /** The stream that is open on the screen. */
  readonly open: string | undefined
  /** Visible streams of which only the row of the listing is known. */
  readonly unread: readonly string[]
  /** A stream whose first failure, or one of whose events, is shown to its end. */
  readonly failure?: string | undefined
  readonly activity: boolean
  readonly watchdog: boolean
  /** The numbers of all streams and whether they are watched, now and then. */
  readonly health: boolean
  readonly workers: boolean
  readonly subscriptions: boolean
  readonly inboxes: boolean
}

/** Nothing is visible. */
export const NOTHING_VISIBLE: VisibleData = {
  streams: false,
  open: undefined,
  unread: [],
  activity: false,
  watchdog: false,
  health: false,
  workers: false,
  subscriptions: false,
  inboxes: false,
}

import type { JournalEntry, StreamView } from '../../ops/read-stream.ts'
import type { SummarizedStream } from '../../ops/summaries.ts'
import type { WatchdogState } from '../../ops/watchdog-state/state.ts'
import type { StreamEvent } from '../../stream/event.ts'

/**
 * What the dashboard knows. Entries are never changed in place but replaced, so whoever holds one holds a moment. All
 * times are the store's clock, epoch ms. Texts are as the store has them: raw.
 */
export interface Data {
  /** Grows with everything that may be seen, by as much as changed; how fresh it is is no part of that. */
  readonly revision: number
  readonly streams: StreamTable
  /** The stream whose screen is or was open last. */
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
   * False while the document of a stream without a summary that counts has not been read. `item` has then what was known
   * before it changed, or nothing.
   */
  readonly isRead: boolean
  /** How many changes were seen in each of the last stretches of time, the latest last; see `PULSE`. */
  readonly pulse: readonly number[]
  /** The stretch, counted from the epoch, that the last number of `pulse` belongs to. */
  readonly pulseAt: number
  /** Since when its lease is held: by its holder's word, else since it was first seen so. */
  readonly leasedSinceMs: number | undefined
}

/** Of the sparkline: so many stretches of so many ms. */
export const PULSE = { stretches: 8, stretchMs: 15_000 } as const

export interface StreamTable {
  /** Grows with each change of an entry. */
  readonly revision: number
  /** Grows when a stream comes or goes. */
  readonly membership: number
  readonly size: number
  /** A whole listing has come to its end: what is not here is not there. */
  readonly isComplete: boolean
  get(name: string): StreamEntry | undefined
  /** In no order that means anything. */
  values(): Iterable<StreamEntry>
}

/** One line of the thread tree of the open stream, whatever is folded. */
export interface TreeNode {
  /** Unique in the tree: the event's id, with a number behind it where an id stands there again. */
  readonly key: string
  readonly id: string
  readonly depth: number
  /** Tree lines in front of the fold mark: `│ └─`. */
  readonly lines: string
  /** Behind the last of what is below it: `at + 1` where nothing is. */
  readonly end: number
  /** The event stands further up already: a cycle or a second way to it. */
  readonly again: boolean
}

/** What is below an event, superseded ones left out. */
export interface Below {
  /** Completed, of all. */
  readonly done: number
  readonly failed: number
  readonly total: number
}

/**
 * - `waiting`: it was not read yet. - `missing`: nothing has its name so far. - `there`. - `unreadable`: `fault` says why, `text`
 *   is what the blob holds; `view` is the last state that could be read. - `gone`: it was there and is not any more; `view` is
 *   what it was.
 */
export type Presence = 'waiting' | 'missing' | 'there' | 'unreadable' | 'gone'

/** The stream of the second screen. */
export interface OpenStream {
  readonly name: string
  readonly revision: number
  readonly presence: Presence
  /** When it was first seen to be gone, where that is known. */
  readonly goneMs?: number | undefined
  readonly view: StreamView | undefined
  readonly fault: { readonly code: string; readonly message: string } | undefined
  /** Its row of the listing as it was looked at last: lease and ETag. `undefined` when it is not there. */
  readonly listed: SummarizedStream['listed'] | undefined
  readonly summary: SummarizedStream['summary']
  /** The whole tree in order. The same array as long as its form is the same. */
  readonly nodes: readonly TreeNode[]
  /** What is below the node at this position. */
  below(at: number): Below
  /** The event with this id as it stands. */
  event(id: string): StreamEvent | undefined
  /** The latest transactions, oldest first, at most `TAIL_LENGTH`. */
  readonly tail: readonly JournalEntry[]
  /** Those that tell of an event, oldest first. */
  transactionsOf(id: string): readonly JournalEntry[]
  /** The document's text as it lies in the blob, in lines; not parsed. */
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

/** Who did what, when and why: read while its screen is open. */
export interface ActivityFeed {
  readonly revision: number
  /** The latest first, bounded. */
  readonly items: readonly Activity[]
  /** How many streams have moved and were not read yet. */
  readonly behind: number
}

/** What is known of watchdogs: read while its screen is open. */
export interface WatchdogView {
  readonly revision: number
  /** `undefined` before the first answer. */
  readonly state: WatchdogState | undefined
  /** The soonest limits of all streams, the soonest first: what expires next, whoever watches. */
  readonly next: readonly { readonly stream: string; readonly dueMs: number }[]
  /** What a pass would do now, where somebody asked. */
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
      /** Lines of safe text: one a decision. */
      readonly decisions: readonly string[]
      /** Set where the breaker would hold it back: why. */
      readonly breaker: string | undefined
    }

/** How old what is seen is. */
export interface Freshness {
  /** When the last look that was answered began; `undefined` before the first. */
  readonly seenMs: number | undefined
  /** From one look to the next, ms: longer than asked for where the store is slow. */
  readonly intervalMs: number
  readonly isSlow: boolean
  /** A look is under way since. */
  readonly lookingSinceMs: number | undefined
  /** The store does not answer, or refuses. */
  readonly trouble: { readonly sinceMs: number; readonly code: string; readonly message: string } | undefined
}

/** What is seen now, and so has to be read. */
export interface VisibleData {
  /** The listing of all streams. */
  readonly streams: boolean
  /** The stream that is open on the screen. */
  readonly open: string | undefined
  /** Names of visible streams of which only the row of the listing is known. */
  readonly unread: readonly string[]
  readonly activity: boolean
  readonly watchdog: boolean
}

/** Nobody looks. */
export const NO_DEMAND: VisibleData = { streams: false, open: undefined, unread: [], activity: false, watchdog: false }

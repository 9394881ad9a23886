import type { JournalEntry, StreamView } from '../ops/read-stream.ts'

/** What a subscription is: the same for all processes of its name. */
export interface SubscriptionSpec {
  /** Letters, digits, `.`, `_` and `-`; at most 63 characters. */
  readonly name: string
  /** Globs of the streams; none for all. */
  readonly match: readonly string[]
  readonly notMatch: readonly string[]
  /** Operations that are handed over; none for all. Positions move on over the rest. */
  readonly ops: readonly string[]
  /** Names of events: a transaction is handed over if it changed one of them; none for all. */
  readonly eventNames: readonly string[]
  /** Only the transaction with which a stream ends. */
  readonly doneOnly: boolean
  /** Number of shards, 1 to 256, fixed when the subscription is created. */
  readonly shards: number
}

/** One transaction of one stream, handed to a handler. */
export interface Delivery {
  readonly subscription: string
  /** `{born}@{version}`: the same each time the transaction is delivered. */
  readonly id: string
  readonly stream: string
  /** The incarnation (`lc:born`) of the stream. */
  readonly born: string
  readonly transaction: JournalEntry
  /** With this transaction the stream ended. */
  readonly done: boolean
  /** The stream as it was read, which may be later than the transaction. */
  readonly view: StreamView
  /** How often it has been delivered, from 1; a process that died counts only what it wrote down. */
  readonly attempt: number
}

/** What a handler made of a delivery. */
export type Handled =
  /** Done, with its commands: the position moves on. */
  | { readonly kind: 'handled' }
  /** Not now: the stream waits, without an end and without counting as a try. */
  | { readonly kind: 'transient'; readonly why: string; readonly retryAfterMs?: number }
  /** Failed: tried again, in the end parked. `hopeless`: no retry can help, parked at once. */
  | { readonly kind: 'failed'; readonly why: string; readonly hopeless?: boolean; readonly retryAfterMs?: number }
  /** Aborted because the process stops: delivered again by the next one. */
  | { readonly kind: 'stopped' }

/**
 * Handles a delivery and executes the commands that follow from it, before it returns. Faults are outcomes; what it
 * throws counts as failed.
 */
export type Handler = (delivery: Delivery, signal: AbortSignal) => Promise<Handled>

/** After the last try: the stream is parked, or the transaction is left out and reported. */
export type OnPoison = 'park' | 'skip'

/** Why a stream of a subscription does not go on now. */
export interface HaltedStream {
  readonly stream: string
  readonly born: string
  /** Handled up to this version: the next transaction failed. */
  readonly version: number
  readonly state: 'waiting' | 'parked'
  /** Failed tries of the next transaction. */
  readonly tries: number
  /** Deliveries of it, with those that were put off. */
  readonly attempts: number
  /** When it is tried again, epoch ms; of a parked stream 0. */
  readonly nextMs: number
  readonly why: string
  /** When it was first tried, epoch ms. */
  readonly sinceMs: number
  /** Its document could not be read, so that its version is not known: new are transactions from about this time on. */
  readonly unreadSinceMs?: number
}

/** What a subscription does, for logs and metrics. */
export interface SubscriptionObserver {
  /** One delivery has ended, in any way. `lagMs`: from the transaction to the end of the handler. */
  readonly delivered?: (report: DeliveryResult) => void
  /** Its shards changed; also called after the first check. */
  readonly shards?: (held: readonly number[], count: number) => void
  /** Something does not work, and is tried again; reported once until it works. */
  readonly troubled?: (trouble: SubscriptionTrouble) => void
  readonly recovered?: (what: SubscriptionTrouble['what']) => void
  /** Once an interval. */
  readonly progress?: (progress: SubscriptionProgress) => void
  /** A request of an operator was applied. */
  readonly applied?: (request: { readonly number: number; readonly text: string }) => void
}

export interface DeliveryResult {
  readonly delivery: Delivery
  readonly handled: Handled
  /**
   * `waiting`: tried again. `parked`: not tried again until an operator says so. `skipped`: left out after the last try.
   * `stopped`: left to the next process. `lost`: the shard belongs to another process now, which delivers it again.
   */
  readonly outcome: 'handled' | 'waiting' | 'parked' | 'skipped' | 'stopped' | 'lost'
  /** Failed tries so far. */
  readonly tries: number
  readonly tookMs: number
  readonly lagMs: number
  /** When a waiting stream is tried again, epoch ms. */
  readonly nextMs?: number
}

export interface SubscriptionTrouble {
  /** The store does not answer; a position could not be written or read; too many streams wait in a shard; … */
  readonly what: 'store' | 'shards' | 'position' | 'full' | 'requests' | 'stream'
  readonly text: string
  /** The stream concerned. */
  readonly stream?: string
  readonly cause?: unknown
}

export interface SubscriptionProgress {
  readonly lagMs: number
  /** Deliveries a second in the last minute. */
  readonly rate: number
  readonly delivered: number
  readonly waiting: number
  readonly parked: number
  /** Streams with transactions to deliver, found so far. */
  readonly inHand: number
  readonly shards: number
}

import type { JournalEntry, StreamView } from '../ops/read-stream.ts'
import type { SagaCommand } from './commands/command.ts'

/** One transaction of one stream, handed to a handler. */
export interface Delivery {
  readonly subscription: string
  /** `{born}@{version}`: the same each time the transaction is delivered. */
  readonly id: string
  readonly stream: string
  readonly transaction: JournalEntry
  /** The stream as it was read, which may be later than the transaction. */
  readonly view: StreamView
  /** How often it has been delivered, from 1; a process that died counts only what it wrote down. */
  readonly attempt: number
}

/** What a handler made of a delivery. */
export type Handled =
  /** Handled; `commands` are executed before the position moves on. */
  | { readonly kind: 'handled'; readonly commands?: readonly SagaCommand[] }
  /** Not now: the stream waits, without an end and without counting as a try. */
  | { readonly kind: 'transient'; readonly why: string; readonly retryAfterMs?: number }
  /** Failed: tried again, in the end parked. `hopeless`: no retry can help, parked at once. */
  | { readonly kind: 'failed'; readonly why: string; readonly hopeless?: boolean; readonly retryAfterMs?: number }
  /** Aborted because the process stops: delivered again by the next one. */
  | { readonly kind: 'stopped' }

/** Never throws: faults are outcomes. */
export type Handler = (delivery: Delivery, signal: AbortSignal) => Promise<Handled>

/** What a subscription is: the same for all processes of its name. */
export interface SubscriptionSpec {
  readonly name: string
  /** The streams. */
  readonly match: readonly string[]
  readonly notMatch: readonly string[]
  /** What is handed over; positions move on over the rest. */
  readonly ops: readonly string[]
  readonly eventNames: readonly string[]
  readonly doneOnly: boolean
  /** Number of shards, fixed at creation. */
  readonly shards: number
}

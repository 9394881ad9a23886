import type { Summary } from '../stream/summary.ts'
import type { Unreadable } from './summaries.ts'

export interface WaitOptions {
  /** From the start of one look to the start of the next, ms. */
  readonly intervalMs: number
  /** Waits for streams that do not exist yet, or any more, and for a filter to match. */
  readonly mayAppear?: boolean
  readonly signal?: AbortSignal
}

/** What one sees while waiting. */
export type WaitItem =
  /** These names do not exist: waiting ends. */
  | { readonly kind: 'missing'; readonly names: readonly string[] }
  /** The filter matches no stream: waiting ends. */
  | { readonly kind: 'no-match' }
  /** A stream is where it was asked to be, or cannot come there any more. Each ends once, whatever becomes of it later. */
  | { readonly kind: 'ended'; readonly stream: AwaitedStream }
  /** Its document cannot be read. It is waited for all the same: its writer may mend it. Said once until it can be read. */
  | ({ readonly kind: 'unreadable'; readonly stream: string } & Unreadable)
  /** A look has ended. `open` is what is still waited for; it changes with the next look. */
  | { readonly kind: 'looked'; readonly total: number; readonly open: ReadonlyMap<string, AwaitedStream> }
  /** The store does not answer; it is asked again each interval. Said once per outage. */
  | { readonly kind: 'interrupted'; readonly cause: unknown }
  | { readonly kind: 'resumed' }

/** A stream that is or was waited for. */
export interface AwaitedStream {
  readonly name: string
  /** `missing`: not there yet; `removed`: not there any more; `unreadable`: its document cannot be read now. */
  readonly state: 'met' | 'otherwise' | 'removed' | 'open' | 'missing' | 'unreadable'
  /** As it was last seen; absent before it was. */
  readonly last?: LastSeen
  /** The event that is waited for; its status is `undefined` as long as it is not there. */
  readonly event?: { readonly id: string; readonly status: string | undefined }
}

/** What is known of a stream, in memory of its own. */
export type LastSeen = Pick<Summary, 'status' | 'outcome' | 'failedId' | 'failure' | 'dueMs' | 'waitingOn'>

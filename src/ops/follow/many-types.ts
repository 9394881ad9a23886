import type { SeenTransaction } from '../read-stream.ts'
import type { Unreadable } from '../summaries.ts'
import type { Break } from './position.ts'

/** Which of the transactions there are already. */
export interface Past {
  /** So many of the latest, of all streams together; `Infinity` for all, 0 for none. */
  readonly latest: number
  /** Only those at or after this time, epoch ms. */
  readonly sinceMs?: number
}

export interface FollowManyOptions {
  readonly past: Past
  /** From the start of one look to the start of the next, ms. Without it one look is all: what is there already. */
  readonly intervalMs?: number
  /** Tells which transactions are wanted; `past.latest` counts only those. Default: all. */
  readonly keeps?: (stream: string, tx: SeenTransaction) => boolean
  readonly signal?: AbortSignal
}

/** What one sees while following many streams. */
export type FollowManyItem =
  | { readonly kind: 'transaction'; readonly stream: string; readonly tx: SeenTransaction }
  /** It cannot be read, and why. Said once for each state of it; as soon as it can be read, nothing of it is missing. */
  | ({ readonly kind: 'unreadable'; readonly stream: string } & Unreadable)
  /** Its transactions do not go on from what was seen last: something may have been missed. */
  | { readonly kind: 'broken'; readonly stream: string; readonly why: Break }
  /** The store does not answer; it is asked again each interval. Said once per outage. */
  | { readonly kind: 'interrupted'; readonly cause: unknown }
  /** It answers again, and all that happened meanwhile was told. `broken`, `gone`: how many streams came so with it. */
  | { readonly kind: 'resumed'; readonly broken: number; readonly gone: number }
  /** These were removed. What they did since the last look went with them. */
  | { readonly kind: 'gone'; readonly names: readonly string[] }
  /** Names of the selection that nothing has; said once, before anything else. */
  | { readonly kind: 'missing'; readonly names: readonly string[] }
  /** One look has ended. `streams`: how many the selection had at the first look. */
  | { readonly kind: 'looked'; readonly streams: number }

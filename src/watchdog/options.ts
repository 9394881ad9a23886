import type { Glob } from '../ops/glob.ts'
import type { Ownership } from '../ops/shards/shards.ts'
import type { DueAction } from '../stream/operations/operation.ts'
import type { Timing } from '../util/clock.ts'
import type { Observer } from './report.ts'

/** Options of a watchdog, already validated. */
export interface WatchdogOptions {
  /** From the start of one sweep to the start of the next, ms; jitter adds up to a tenth, at most 1 s. */
  readonly intervalMs: number
  /** Action for events without their own (`lc:onDue`). */
  readonly onDue: DueAction
  /** Watches only streams with matching names. */
  readonly names?: Glob
  /** Limit for decisions executed in a pass; `fairOrder` selects them. */
  readonly maxPerPass: number
  /** Circuit breaker: the share of open events, 0 to 1, that a pass may end; it may always end 50 events. */
  readonly maxShare: number
  /** Number of streams read concurrently. */
  readonly concurrency: number
  /** Number of streams changed concurrently; by default `concurrency`. */
  readonly changeConcurrency?: number
  /** Actor in the journal. */
  readonly by: string
  /** By default all streams. */
  readonly ownership?: Ownership
  readonly observers: readonly Observer[]
  /**
   * When a watchdog of this store last saw it, by the store's clock, epoch ms; absent if none ever did. Since then the
   * store may have been unavailable without this watchdog knowing.
   */
  readonly lastSeenMs?: number
  /** The hooks need `moved`. */
  readonly wantsMoved?: boolean
  /** Asked before each sweep: whether observers must receive all streams, moved or not. */
  readonly wantsAll?: () => boolean
  readonly timing?: Timing
}

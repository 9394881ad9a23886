import type { Glob } from '../ops/glob.ts'
import type { OnDue } from '../stream/operations/operation.ts'
import type { Timing } from '../util/clock.ts'
import type { Observer, Ownership } from './report.ts'

/** How a watchdog works. Numbers were checked where they were read. */
export interface WatchdogOptions {
  /** From the start of one sweep to the start of the next, ms; up to a tenth, at most 1 s, is added by chance. */
  readonly intervalMs: number
  /** For events that say nothing of their own (`lc:onDue`). */
  readonly onDue: OnDue
  /** Only streams with such names. */
  readonly names?: Glob
  /** At most so many decisions are carried out in a pass: see `fairOrder` for which. */
  readonly maxPerPass: number
  /** The breaker: the share of open events, 0 to 1, that a pass may end; 50 events it always may. */
  readonly maxShare: number
  /** So many streams are read or changed at a time. */
  readonly concurrency: number
  /** Actor in the journal. */
  readonly by: string
  /** All streams unless given. */
  readonly ownership?: Ownership
  readonly observers: readonly Observer[]
  /**
   * When a watchdog of this store last saw it, by the store's clock, epoch ms; absent if none ever did. What went on since
   * then, this one does not know: the store may have been away.
   */
  readonly lastSeenMs?: number
  /** The hooks need `moved`. */
  readonly wantsMoved?: boolean
  readonly timing?: Timing
}

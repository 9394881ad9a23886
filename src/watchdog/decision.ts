import type { Operation } from '../stream/operations/operation.ts'
import type { LimitKind } from '../stream/time/deadlines.ts'

/** What the watchdog wants of a stream. */
export type WatchdogDecision = Expiry | Settlement

/** The limit of an event has ended, and the event gave no sign of life. */
export interface Expiry {
  /** `abort-event`, `abort-stream`: it is ended. `notify`: it is told and nothing is changed. */
  readonly kind: 'abort-event' | 'abort-stream' | 'notify'
  readonly stream: string
  /** Id and name of the event whose limit ended. */
  readonly event: string
  readonly name: string
  readonly limit: LimitKind
  /** When it ended, epoch ms. */
  readonly dueMs: number
  /** Which limit, since when: becomes the event's `msg` and the journal's `why`. */
  readonly message: string
  /** `watchdog:{event}:{attempt}:{due}`: the same whoever finds it, so that it happens once. */
  readonly commandId: string
  /**
   * How many open events it ends: the target and what is open below it. What is below several that end at once counts with
   * the first of them. 0 for `notify`.
   */
  readonly ends: number
  /** Absent for `notify`. */
  readonly operation?: Operation
}

/** A foreign writer left something to close. */
export interface Settlement {
  readonly kind: 'settle'
  readonly stream: string
  readonly commandId: string
  readonly operation: Operation
}

/** How many open events it ends. */
export function endsOf(decision: WatchdogDecision): number {
  return decision.kind === 'settle' ? 0 : decision.ends
}

/** When the limit ended, epoch ms; `undefined` where none did. */
export function dueMsOf(decision: WatchdogDecision): number | undefined {
  return decision.kind === 'settle' ? undefined : decision.dueMs
}

/**
 * What became of a decision. `ended`, `settled`, `notified`: done, and durable. `already`: another watchdog did it, or it
 * ended otherwise meanwhile. `showed-life`: it moved between look and lease. `busy`: leased by another; looked at again.
 * `gone`: the stream or event is not there any more. `refused`: the stream does not allow it. `failed`: the store or the
 * document did not let it, nothing was changed. `unknown`: it may have happened; the same command id tells next time.
 */
export type DecisionOutcome =
  | 'ended'
  | 'settled'
  | 'notified'
  | 'already'
  | 'showed-life'
  | 'busy'
  | 'gone'
  | 'refused'
  | 'failed'
  | 'unknown'

/** A decision that was carried out, or was tried to. */
export interface Carried {
  readonly decision: WatchdogDecision
  readonly outcome: DecisionOutcome
  /** The store's clock when it was known, epoch ms: less `dueMs` it is the latency. */
  readonly atMs: number
  /** Version of the stream after it, where that was changed. */
  readonly version?: number
  /** Ids of the events that were ended, where that is known. */
  readonly ended?: readonly string[]
  /** A stable code and a sentence for what was not done. */
  readonly code?: string
  readonly message?: string
}

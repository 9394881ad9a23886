import type { DueAction, Operation } from '../stream/operations/operation.ts'
import type { LimitKind } from '../stream/time/deadlines.ts'

/** An action that the watchdog plans for a stream. */
export type WatchdogDecision = Expiry | Settlement

/** A deadline of an event expired without a heartbeat. */
export interface Expiry {
  /**
   * `abort-event`, `abort-stream`: aborts it. `end-attempt`: ends an attempt that runs too long; the event is tried again
   * while attempts are left. `notify`: calls hooks and changes nothing.
   */
  readonly kind: DueAction | 'end-attempt'
  readonly stream: string
  /** Id and name of the event with the expired deadline. */
  readonly event: string
  readonly name: string
  readonly limit: LimitKind
  /** When the deadline expired, epoch ms. */
  readonly dueMs: number
  /** The deadline and its start; becomes the event's `msg` and the journal's `why`. */
  readonly message: string
  /** `watchdog:{event}:{attempt}:{due}`: every watchdog generates the same id, so the decision is applied once. */
  readonly commandId: string
  /**
   * Number of open events it ends: the target and its open descendants. Descendants of several targets count for the
   * first. 0 for `notify` and `end-attempt`.
   */
  readonly ends: number
  /** Absent for `notify`. */
  readonly operation?: Operation
}

/** Gates can open, or events close: a time has come, or another writer left them so. */
export interface Settlement {
  readonly kind: 'settle'
  readonly stream: string
  readonly commandId: string
  readonly operation: Operation
  /** Only gates are due in the document whose ETag has this hash: once they are open, nothing is to be done. */
  readonly opensIn?: number
}

/** Number of open events that a decision ends. */
export function endsOf(decision: WatchdogDecision): number {
  return decision.kind === 'settle' ? 0 : decision.ends
}

/** When the deadline expired, epoch ms; `undefined` for a settlement. */
export function dueMsOf(decision: WatchdogDecision): number | undefined {
  return decision.kind === 'settle' ? undefined : decision.dueMs
}

/**
 * Outcome of a decision. `ended`, `settled`, `notified`: done and durable. `already`: another watchdog did it, or the
 * event ended in another way meanwhile. `showed-life`: the event changed between inspection and lease. `busy`: another
 * process holds the lease; the stream is inspected again. `gone`: the stream or event no longer exists. `refused`: the
 * stream does not allow it. `failed`: the store or the document prevented it; nothing was changed. `unknown`: it may
 * have been applied; the next attempt finds out by the command id.
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

/** A decision that was executed, or at least attempted. */
export interface ExecutedDecision {
  readonly decision: WatchdogDecision
  readonly outcome: DecisionOutcome
  /** When the outcome was known, by the store's clock, epoch ms; minus `dueMs` it is the latency. */
  readonly atMs: number
  /** Version of the stream after a change. */
  readonly version?: number
  /** Ids of the ended events, if known. */
  readonly ended?: readonly string[]
  /** A stable code and a sentence for a decision that was not executed. */
  readonly code?: string
  readonly message?: string
}

import type { SummarizedStream } from '../ops/summaries.ts'
import type { DecisionOutcome, ExecutedDecision, WatchdogDecision } from './decision.ts'
import type { GapReport } from './observation-gaps.ts'

/** Judgement of the circuit breaker on a pass. */
export interface BreakerState {
  /** It stopped the pass: no event was ended. It stays open while the events held back would still be too many. */
  readonly isOpen: boolean
  /** Events that would be ended by this pass, were held back before, or were ended within the last interval. */
  readonly wouldEnd: number
  /** Open events of the watched streams. */
  readonly openEvents: number
  /** `--max-share`, 0 to 1. */
  readonly maxShare: number
}

/** A deadline that expires soon, or has expired and waits for a heartbeat. */
export interface Upcoming {
  readonly stream: string
  /** Epoch ms. */
  readonly dueMs: number
}

/** Observations and actions of one pass. Its size is bounded. */
export interface PassReport {
  /** `sweep`: listed all streams. `appointment`: inspected only streams that were due. */
  readonly kind: 'sweep' | 'appointment'
  /** The store's clock at its start, epoch ms. */
  readonly startedMs: number
  /** Its duration. */
  readonly tookMs: number
  /** Duration of the listing alone; absent for an appointment. */
  readonly listedMs?: number
  /** Streams by status of their root; those without events and unreadable ones under these two names. */
  readonly streams: Readonly<Record<string, number>> & { readonly unreadable?: number; readonly 'not-started'?: number }
  readonly total: number
  /** Streams in the shards of this watchdog; `total` without shards. */
  readonly watched: number
  readonly openEvents: number
  /** Streams with an open event past its deadline after this pass. */
  readonly overdue: number
  /** Those of them of which observers were notified, and nothing more happens to them. */
  readonly notified: number
  readonly work: WorkTotals
  /** Number of documents read. */
  readonly documents: number
  /** Number of decisions by outcome. */
  readonly outcomes: Readonly<Partial<Record<DecisionOutcome, number>>>
  /** Number of events ended by this pass. */
  readonly endedEvents: number
  /** Number of decisions deferred by `--max-per-pass`. */
  readonly deferred: number
  readonly breaker: BreakerState
  /** The next deadlines, at most 20. */
  readonly next: readonly Upcoming[]
  /** Unreadable documents, at most 20. */
  readonly unreadable: readonly { readonly stream: string; readonly message: string }[]
  /** The store's clock minus that of this machine, ms. */
  readonly skewMs: number
}

/** What the watched streams wait for people or workers with. */
export interface WorkTotals {
  /** Streams with a failure that nobody has acknowledged. */
  readonly failed: number
  /** Streams that an operator has suspended. */
  readonly suspended: number
  /** Streams with a silent worker: a claim has ended. */
  readonly abandoned: number
  /** Ready events by step, the most first, at most 51. */
  readonly ready: readonly { readonly step: string; readonly count: number }[]
  /** Since when the oldest of them is ready, epoch ms; `undefined` without one. */
  readonly readySinceMs: number | undefined
}

/** A failed pass: the store did not answer, or rights are missing. Nothing is lost: the next one inspects again. */
export interface FailedPass {
  readonly startedMs: number
  readonly tookMs: number
  readonly code: string
  readonly message: string
  /** Since when passes have failed, by this machine's clock. */
  readonly sinceMs: number
  readonly error: unknown
}

/** A stream that is new or has a new ETag, as found by a sweep or an inspection. */
export interface MovedStream extends SummarizedStream {
  /** The version reported last; `undefined` the first time. */
  readonly before: number | undefined
  /** It was removed since, and this is another stream of its name. */
  readonly isOtherLife: boolean
}

/**
 * Receives the events of a watchdog. Observers are called in order and awaited: a pass waits for them, so they must
 * hand off long work. They should not throw; an error affects neither the pass nor other observers, which receive it
 * (`faulty`).
 */
export interface Observer {
  /** A pass begins; `kind` as in its report. */
  began?(kind: PassReport['kind'], startedMs: number): void | Promise<void>
  /**
   * Streams that changed; only with `wantsMoved`, and only in own shards. Changes while a shard belonged to another
   * watchdog are reported once the shard is our own.
   */
  moved?(streams: readonly MovedStream[]): void | Promise<void>
  /** A decision of a dry run; replaces `carried`. */
  planned?(decision: WatchdogDecision): void | Promise<void>
  executed?(carried: ExecutedDecision): void | Promise<void>
  passed?(report: PassReport): void | Promise<void>
  failed?(failure: FailedPass): void | Promise<void>
  /** A document is unreadable; reported once while it is unchanged. */
  unreadable?(stream: string, message: string): void | Promise<void>
  /** The watchdog observed nothing for a while, by the store's clock: earlier observations are invalid. */
  gap?(fromMs: number, toMs: number, why: GapReport['why']): void | Promise<void>
  /** Another observer threw; reported once for each. */
  faulty?(error: unknown): void | Promise<void>
  /** Shards were taken or released; also after the first check in any case. */
  shards?(held: readonly number[], total: number): void | Promise<void>
}

/**
 * Calls observers in their order. An error of one affects neither the others nor the watchdog: the others receive it,
 * once for each faulty observer.
 */
export class PassObservers {
  readonly #observers: readonly Observer[]
  readonly #faulty = new Set<Observer>()

  constructor(observers: readonly Observer[]) {
    this.#observers = observers
  }

  async notify(call: (observer: Observer) => void | Promise<void>): Promise<void> {
    for (const observer of this.#observers) {
      try {
        await call(observer)
      } catch (error) {
        await this.#report(observer, error)
      }
    }
  }

  async #report(faulty: Observer, error: unknown): Promise<void> {
    if (this.#faulty.has(faulty)) return
    this.#faulty.add(faulty)
    await this.notify(observer => (observer === faulty ? undefined : observer.faulty?.(error)))
  }
}

/**
 * Whether a pass could execute its decisions. `nothing`: the store prevented all of them, so the watchdog observes but
 * cannot act. `undefined`: inconclusive, since there were no decisions although a deadline has expired that is not only notified.
 */
export function executionStatus({ kind, outcomes, overdue, notified }: PassReport): 'some' | 'nothing' | undefined {
  const all = Object.values(outcomes).reduce((sum, count) => sum + count, 0)
  if (all === 0) return kind === 'sweep' && overdue === notified ? 'some' : undefined
  return (outcomes.failed ?? 0) + (outcomes.unknown ?? 0) === all ? 'nothing' : 'some'
}

import type { SummarizedStream } from '../ops/summaries.ts'
import type { Carried, DecisionOutcome, WatchdogDecision } from './decision.ts'
import type { GapReport } from './observation-gaps.ts'

/** How the breaker judged a pass. */
export interface BreakerState {
  /** It stopped the pass: nothing was ended. It stays open as long as what it held back would still be too much. */
  readonly isOpen: boolean
  /** Events that would be ended: by this pass, those it held back before, and those that were ended in the last interval. */
  readonly wouldEnd: number
  /** Open events of the watched streams. */
  readonly openEvents: number
  /** `--max-share`, 0 to 1. */
  readonly maxShare: number
}

/** A limit that ends soon, or has ended and is watched for signs of life. */
export interface Upcoming {
  readonly stream: string
  /** Epoch ms. */
  readonly dueMs: number
}

/** What one pass saw and did. Bounded, whatever it met. */
export interface PassReport {
  /** `sweep`: all streams were listed. `appointment`: only streams whose time had come were looked at. */
  readonly kind: 'sweep' | 'appointment'
  /** The store's clock at its beginning, epoch ms. */
  readonly startedMs: number
  /** How long it took. */
  readonly tookMs: number
  /** How long the listing alone took; absent for an appointment. */
  readonly listedMs?: number
  /** Streams by status of their root; what has no event and what cannot be read under these two names. */
  readonly streams: Readonly<Record<string, number>> & { readonly unreadable?: number; readonly 'not-started'?: number }
  readonly total: number
  /** Streams in the shards of this watchdog; `total` without shards. */
  readonly watched: number
  readonly openEvents: number
  /** Streams with an event past its limit that still stands after this pass. */
  readonly overdue: number
  /** Documents that were read. */
  readonly documents: number
  /** How many decisions came to which outcome. */
  readonly outcomes: Readonly<Partial<Record<DecisionOutcome, number>>>
  /** The events that were ended by this pass. */
  readonly endedEvents: number
  /** Decisions left for later by `--max-per-pass`. */
  readonly deferred: number
  readonly breaker: BreakerState
  /** The soonest limits, at most 20. */
  readonly next: readonly Upcoming[]
  /** At most 20 documents that cannot be read. */
  readonly unreadable: readonly { readonly stream: string; readonly message: string }[]
  /** The store's clock less that of this machine, ms. */
  readonly skewMs: number
}

/** A pass that came to no end: the store did not answer, or rights are missing. Nothing is lost: the next one looks anew. */
export interface FailedPass {
  readonly startedMs: number
  readonly tookMs: number
  readonly code: string
  readonly message: string
  /** Since when, by this machine's clock, no pass came to its end. */
  readonly sinceMs: number
  readonly error: unknown
}

/** A stream that is new or whose ETag moved, as a sweep or a look found it. */
export interface MovedStream extends SummarizedStream {
  /** The version that was told last; `undefined` at the first time. */
  readonly before: number | undefined
}

/**
 * Who wants to know what a watchdog does. All are called in order and awaited. A pass waits for them, so they hand long
 * work on. None of them should throw: it keeps nobody from anything, and the others are told (`faulty`).
 */
export interface Observer {
  /** A pass begins; `sweep` as in its report. */
  began?(kind: PassReport['kind'], startedMs: number): void | Promise<void>
  /**
   * Streams that moved; asked for only where `wantsMoved`, and only in own shards. What moved while a shard was another's
   * is told when it has become our own.
   */
  moved?(streams: readonly MovedStream[]): void | Promise<void>
  /** What a dry run would do; in place of `carried`. */
  planned?(decision: WatchdogDecision): void | Promise<void>
  carried?(carried: Carried): void | Promise<void>
  passed?(report: PassReport): void | Promise<void>
  failed?(failure: FailedPass): void | Promise<void>
  /** A document cannot be read; told once as long as it stands as it does. */
  unreadable?(stream: string, message: string): void | Promise<void>
  /** The watchdog could see nothing for a while, by the store's clock: what it saw before counts no more. */
  blind?(fromMs: number, toMs: number, why: GapReport['why']): void | Promise<void>
  /** Another observer threw; told once for each that does. */
  faulty?(error: unknown): void | Promise<void>
  /** Shards were taken or let go; after the first look in any case. */
  shards?(held: readonly number[], total: number): void | Promise<void>
}

/** Which streams are this watchdog's. */
export interface Ownership {
  owns(stream: string): boolean
}

/**
 * Those who want to know what a watchdog does, told in their order. One that throws keeps neither the others from hearing
 * nor the watchdog from going on: the others are told, once for each that does.
 */
export class PassObservers {
  readonly #observers: readonly Observer[]
  readonly #faulty = new Set<Observer>()

  constructor(observers: readonly Observer[]) {
    this.#observers = observers
  }

  async tell(what: (observer: Observer) => void | Promise<void>): Promise<void> {
    for (const observer of this.#observers) {
      try {
        await what(observer)
      } catch (error) {
        await this.#report(observer, error)
      }
    }
  }

  async #report(faulty: Observer, error: unknown): Promise<void> {
    if (this.#faulty.has(faulty)) return
    this.#faulty.add(faulty)
    await this.tell(observer => (observer === faulty ? undefined : observer.faulty?.(error)))
  }
}

/**
 * Whether a pass carried out what it wanted. `nothing`: the store let none of its decisions, so the watchdog sees and cannot
 * act. `undefined`: it tells nothing, for it wanted nothing and yet something is past its limit.
 */
export function executionStatus({ kind, outcomes, overdue }: PassReport): 'some' | 'nothing' | undefined {
  const all = Object.values(outcomes).reduce((sum, count) => sum + count, 0)
  if (all === 0) return kind === 'sweep' && overdue === 0 ? 'some' : undefined
  return (outcomes.failed ?? 0) + (outcomes.unknown ?? 0) === all ? 'nothing' : 'some'
}

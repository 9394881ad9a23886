import type { DataContent } from '../ops/event-data.ts'
import type { Partition } from '../ops/shards/partition.ts'
import type { TransactOutcome } from '../ops/transact/transact.ts'
import type { LeaseAttempt, WriteMode } from '../store/store.ts'
import type { EventData } from '../stream/data.ts'
import type { StreamEvent } from '../stream/event.ts'
import type { ChangeResult, EventSpec, StepSpec } from '../stream/operations/operation.ts'
import type { UpstreamResult } from '../stream/upstream-results.ts'
import type { Timing } from '../util/clock.ts'

/** Options of a worker loop. */
export interface LoopOptions extends WorkOptions {
  /** Names of the events to work on; at least one. */
  readonly names: readonly string[]
  /** Only events with this topic. */
  readonly topic?: string
  /** Only streams whose names match this glob: `orders/*`, `orders/**`, `orders/[0-9]*`, `{orders,jobs}/*`. */
  readonly match?: string
  /** Only streams of this partition. */
  readonly partition?: Partition
  /** Only events that could have been claimed for so long, ms: the workers of another region come first. Default 0. */
  readonly deferMs?: number
  /** Number of events at a time. Default 1. */
  readonly concurrency?: number
  /**
   * `once`: ends after one event, or if there is none. `until-empty`: ends when a scan of all streams finds no event. Both skip
   * events that the loop or its work has released or made ready again, and events with faults. Default: the loop never ends.
   */
  readonly until?: 'once' | 'until-empty'
  /** Drains the loop: after its abort the loop claims nothing more, finishes the events in progress, and ends. */
  readonly drain?: AbortSignal
  /** Longest pause between polls while there is nothing to do, ms. Default 2 000 on the embedded store, 10 000 elsewhere. */
  readonly maxIdleMs?: number
  /** Called for everything that happens. */
  readonly observe?: (event: WorkerEvent) => void
}

/** An event of a worker loop. */
export type WorkerEvent =
  | { readonly kind: 'started'; readonly job: Job }
  | {
      readonly kind: 'outcome'
      readonly outcome: WorkOutcome
      /** The result that the work itself wrote, if the loop could not report because the work had ended or released its event. */
      readonly ownEnd?: SelfReported
    }
  | GivenUp
  /** An error of the work, or a fault of the store that concerns the event. */
  | { readonly kind: 'fault'; readonly stream?: string; readonly event?: string; readonly error: unknown }
  /** The store does not answer; the loop retries. Emitted once per outage. */
  | { readonly kind: 'interrupted'; readonly cause: unknown }
  /** The store answers again. */
  | { readonly kind: 'resumed' }

/** The event was failed without working on it: the claim of its last attempt has expired. */
export interface GivenUp {
  readonly kind: 'given-up'
  readonly stream: string
  readonly event: string
  readonly name: string
  /** The number of the last attempt. */
  readonly attempt: number
  /** A sentence: how many attempts there were, and whose the last was. */
  readonly message: string
}

/** Counters of a loop. Results that the work itself wrote count like reported ones. */
export interface LoopReport {
  /** Events claimed. */
  readonly claimed: number
  /** Of these: completed or advanced. */
  readonly completed: number
  readonly failed: number
  /** Attempts that failed for a passing reason: their events are tried again. */
  readonly again: number
  /** Claims released without a result. */
  readonly released: number
  /** Claims lost, and results that could not be reported. */
  readonly lost: number
  /** Attempts to claim an event that another worker had claimed first. */
  readonly racesLost: number
  /** Events failed after too many attempts. */
  readonly givenUp: number
  /** Streams that could not be read, and events that could not be claimed, because of a fault. */
  readonly faults: number
  /** Streams that may have work, but had an infinite lease in the last listing. */
  readonly locked: number
}

/** The work on one event. An error fails the event, with the message of the error. */
export type Work = (job: Job) => Promise<WorkResult | undefined> | WorkResult | undefined

/** A result that the work itself wrote to the stream, instead of returning it. */
export interface SelfReported {
  readonly op: 'complete' | 'advance' | 'fail' | 'release'
  /** Message of the event, if the result ended it. */
  readonly msg?: string
  /** Version of the stream with the result. */
  readonly version: number
  /** Ids of the added successors. */
  readonly added: readonly string[]
  /** Whether the result ended the stream. */
  readonly done: boolean
  /** The attempt failed for a passing reason, and the event is tried again. */
  readonly isAgain?: true
}

/** A claimed event, as passed to its work. */
export interface Job {
  /** Name of the stream. */
  readonly stream: string
  /** The event as of its claim. */
  readonly event: StreamEvent
  readonly owner: string
  /** Fencing token of the claim: later claims have higher ones. */
  readonly fence: number
  /** Incarnation of the stream (`lc:born`): a stream recreated under the same name may repeat fencing tokens. */
  readonly born: string
  /** Number of the attempt: 1, and one more for each claim that ended without a result. */
  readonly attempt: number
  /** Identifies this attempt of this event in this incarnation of the stream. Use it as an idempotency key. */
  readonly attemptKey: string
  /** Reason why the event's own timeout may expire during the work in spite of heartbeats: a clause. Absent if it cannot. */
  readonly limitWarning?: string
  /** Aborts when the work has to stop; its reason is a `StopReason`. */
  readonly signal: AbortSignal
  /**
   * Sends a heartbeat with a message about the progress; it extends the claim like automatic heartbeats.
   *
   * @returns false if the claim is lost
   */
  progress(msg: string): Promise<boolean>
  /**
   * Reads the input of the event; `undefined` if it has none.
   *
   * @throws DataFault if it is missing in the store or damaged; the store's faults
   */
  input(): Promise<DataContent | undefined>
  /**
   * Finds the results of earlier events that this event works with, in the order of their ids: a join gets those of its
   * branches, any other event that of the event it follows. Each has to be read.
   *
   * @throws the store's faults
   */
  inputs(): Promise<readonly UpstreamInput[]>
  /**
   * Sets the result of the event, which is written together with its end, unless the end has a result of its own. The last
   * call counts. A released event keeps none.
   *
   * @param content - a text or bytes, up to 16 MiB
   * @param options - `type`: the media type; guessed from the content if absent
   * @throws InvalidValue for more than 16 MiB, and for an invalid media type
   */
  result(content: string | Uint8Array, options?: { readonly type?: string }): void
}

/** The result of an earlier event that an event works with. */
export interface UpstreamInput extends UpstreamResult {
  /** Reads the content. @throws DataFault if it is missing in the store or damaged; the store's faults */
  read(): Promise<DataContent>
}

/** Result of the work on an event, reported under its fencing token. */
export type WorkResult =
  | { readonly op: 'complete'; readonly msg?: string; readonly result?: EventData }
  /** The event's own work is done, and successors are added: the next step of its thread, new threads and their join, or a plan. */
  | {
      readonly op: 'advance'
      readonly next?: EventSpec
      readonly forks?: readonly EventSpec[]
      readonly join?: EventSpec
      readonly steps?: readonly StepSpec[]
      readonly result?: EventData
    }
  | {
      readonly op: 'fail'
      readonly msg?: string
      readonly result?: EventData
      /** For a passing reason: the event is tried again after a pause while attempts are left. */
      readonly transient?: boolean
      /** The policy for an event that names none, `5 2s..1m`. Default: that of the worker. */
      readonly retry?: string
    }
  /** The claim is released: the event is `init` again, with the same attempt number. */
  | { readonly op: 'release' }

/** Reason why work has to stop early. */
export type StopReason =
  /** The worker itself is stopping. The claim still holds: the work can finish, or release the event. */
  | { readonly kind: 'stopped'; readonly reason: unknown }
  /** The attempt has run longer than its attempt timeout. Unless the work still ends the event, it is tried again. */
  | { readonly kind: 'attempt-timeout'; readonly ms: number }
  | LostClaim

/**
 * A lost claim: no result can be reported. `code` is the code of the refusal (`already-final` if the event was canceled or
 * aborted, `suspended` if a suspension handed it back, `ended-above`, `fenced`, `claimed`, `event-not-found` …), `stream-not-found`, or `claim-expired` if no heartbeat was
 * confirmed for the duration of the claim, so that another worker may have taken the event over.
 */
export interface LostClaim {
  readonly kind: 'lost'
  readonly code: string
  /** A sentence for people. */
  readonly message: string
}

/** Options of work on an event. */
export interface WorkOptions {
  /** Name of the worker, the owner of the claim. */
  readonly owner: string
  /** Actor recorded in the journal. Default: the owner. */
  readonly by?: string
  /** Reason recorded in the journal. */
  readonly why?: string
  /**
   * Duration of the claim without a heartbeat, ms. A heartbeat is sent after a third of it, or of the event's own timeout if
   * that is shorter. Default 60 000.
   */
  readonly claimMs?: number
  /** How long to wait for a lease held by another, ms. Default 10 000. */
  readonly leaseWaitMs?: number
  readonly write?: WriteMode
  /** Called for each attempt to get the lease of a stream. */
  readonly onLeaseAttempt?: (attempt: LeaseAttempt) => void
  /**
   * Maximum number of attempts of an event that names none itself: after transient failures, and in a loop after claims that
   * expired. After that the event is failed, so that the stream does not wait forever. Default 5.
   */
  readonly maxAttempts?: number
  /**
   * The first and the longest pause after a transient failure of an event that names none itself, `2s..1m`: pauses double in
   * between. Default `1s..1m`.
   */
  readonly backoff?: string
  /** Stops the work early: the signal of the job aborts with `stopped`, and the event can be released. */
  readonly signal?: AbortSignal
}

/** The event to work on. */
export interface WorkTarget {
  readonly stream: string
  readonly event: string
}

/** Options of work on one given event. */
export interface EventWorkOptions extends WorkOptions {
  /** Claims the event even though a worker without claims may still be working on it. */
  readonly takeOver?: boolean
  /** Clock and randomness. Default: those of this machine. */
  readonly timing?: Timing
}

const CLAIM_MS = 60_000

export function claimMsOf({ claimMs }: Pick<WorkOptions, 'claimMs'>): number {
  return claimMs ?? CLAIM_MS
}

/** Outcome of a transaction that is not known to be committed. */
export type NotCommitted =
  | Exclude<TransactOutcome, { readonly kind: 'done' | 'missing' }>
  /** The stream does not exist. `isReplaced`: the claimed stream was removed and recreated under the same name. */
  | { readonly kind: 'missing'; readonly isReplaced?: boolean }

/** Outcome of working on one event. */
export type WorkOutcome =
  /** The result is in the stream. */
  | { readonly kind: 'reported'; readonly job: Job; readonly ending: WorkResult; readonly result: ChangeResult }
  /** The event could not be claimed, and the work did not start. */
  | { readonly kind: 'not-claimed'; readonly undone: NotCommitted }
  /** The claim was lost during the work: its signal aborted, and nothing was reported. */
  | { readonly kind: 'lost'; readonly job: Job; readonly lost: LostClaim }
  /** The work ended, but its result could not be reported: it was refused, or the outcome was unknown until the claim expired. */
  | { readonly kind: 'unreported'; readonly job: Job; readonly ending: WorkResult; readonly undone: NotCommitted }

import type { TransactOutcome } from '../ops/transact/transact.ts'
import type { WriteMode } from '../store/store.ts'
import type { StreamEvent } from '../stream/event.ts'
import type { ChangeResult, EventSpec } from '../stream/operations/operation.ts'
import type { Timing } from '../util/clock.ts'

/** What a worker loop looks for, and how it goes about it. */
export interface LoopOptions extends WorkOptions {
  /** Names of the events it works on; at least one. */
  readonly names: readonly string[]
  /** Only events with this topic. */
  readonly topic?: string
  /** Only in streams whose names match this glob: `orders/*`, `orders/**`, `orders/[0-9]*`, `{orders,jobs}/*`. */
  readonly match?: string
  /** So many events at a time. Default 1. */
  readonly concurrency?: number
  /**
   * An event whose claim ran out is taken over until it was tried so often; then it is failed, so that nothing waits for it
   * for ever. Default 5.
   */
  readonly maxAttempts?: number
  /**
   * `once`: ends after one event, or when there is none. `until-empty`: when a look at all streams finds none. Either leaves
   * alone what it, or its work, has handed back or made ready again, and what is at fault. Default: never.
   */
  readonly until?: 'once' | 'until-empty'
  /** Once aborted it claims nothing more, finishes what is under way and ends. */
  readonly drain?: AbortSignal
  /** The longest pause while there is nothing to do, ms. Default 2 000 on the embedded store, 10 000 elsewhere. */
  readonly maxIdleMs?: number
  /** Sees what happens. */
  readonly observe?: (happening: WorkerEvent) => void
}

/** What happens in a worker loop. */
export type WorkerEvent =
  | { readonly kind: 'started'; readonly job: Job }
  | {
      readonly kind: 'outcome'
      readonly outcome: WorkOutcome
      /** Where that could not be reported because the work had ended its event itself, or handed it back: how. */
      readonly ownEnd?: SelfReported
    }
  /** Failed without being worked on: it was tried `maxAttempts` times, and each time its worker went silent. */
  | { readonly kind: 'given-up'; readonly stream: string; readonly event: string; readonly attempts: number }
  /** Work on it threw, or the store failed where the event is concerned. */
  | { readonly kind: 'fault'; readonly stream?: string; readonly event?: string; readonly error: unknown }
  /** The store does not answer; it is asked again. Said once per outage. */
  | { readonly kind: 'interrupted'; readonly cause: unknown }
  | { readonly kind: 'resumed' }

/** What a loop did. Ends that its work made itself count as those that it reported. */
export interface LoopReport {
  /** Events that were claimed. */
  readonly claimed: number
  /** Of these: completed or advanced. */
  readonly completed: number
  readonly failed: number
  /** Handed back. */
  readonly released: number
  /** The claim was lost, or the end could not be reported. */
  readonly lost: number
  /** Tries to claim an event that another had claimed first. */
  readonly racesLost: number
  readonly givenUp: number
  /** Streams that could not be read, and events that could not be claimed, for what the store says. */
  readonly faults: number
  /** Streams that may have work but were leased until somebody says otherwise, as they were seen last. */
  readonly locked: number
}

/** The work on one event. What it throws fails the event, with the error's message. */
export type Work = (job: Job) => Promise<WorkResult | undefined> | WorkResult | undefined

/** What the work did to its event itself, beside what it gave as its end. */
export interface SelfReported {
  readonly op: 'complete' | 'advance' | 'fail' | 'release'
  /** Message of the event, where that has ended. */
  readonly msg?: string
  /** Version of the stream with it. */
  readonly version: number
  /** Ids of the events that follow. */
  readonly added: readonly string[]
  /** The stream ended with it. */
  readonly done: boolean
}

/** An event that was claimed, as its worker gets it. */
export interface Job {
  /** Name of the stream. */
  readonly stream: string
  /** As it stood when it was claimed. */
  readonly event: StreamEvent
  readonly owner: string
  /** The fencing token of the claim: later ones are higher. */
  readonly fence: number
  /** The life of the stream (`lc:born`): another one of its name may come to the same fences. */
  readonly born: string
  /** 1 for the first time; one more for each that ended without an end of the event. */
  readonly attempt: number
  /** Names this attempt of this event, in this life of the stream: what is done under it need not be done twice. */
  readonly attemptKey: string
  /** Why the event's own timeout may end it while it is worked on, whatever heartbeats are sent: a clause. Absent if none can. */
  readonly limitWarning?: string
  /** Aborts when the work is to stop: see `StopReason`, which is its reason. */
  readonly signal: AbortSignal
  /**
   * Extends the claim, as the heartbeat does by itself, and tells how far the work is.
   *
   * @returns false once the claim is lost
   */
  progress(msg: string): Promise<boolean>
}

/** How the work on an event ended, to be reported under its fence. */
export type WorkResult =
  | { readonly op: 'complete'; readonly msg?: string }
  /** Its own work is done; what follows is added: the next step of its thread, or new threads and their join. */
  | {
      readonly op: 'advance'
      readonly next?: EventSpec
      readonly forks?: readonly EventSpec[]
      readonly join?: EventSpec
    }
  | { readonly op: 'fail'; readonly msg?: string }
  /** Handed back: `init` again, the same attempt. */
  | { readonly op: 'release' }

/** Why work is to stop before its end. */
export type StopReason =
  /** The worker itself is to end; the claim still holds, so the event may be handed back. */
  { readonly kind: 'stopped'; readonly reason: unknown } | LostClaim

/**
 * The event is not ours any more: nothing may be reported of it. `code` is that of the refusal (`already-final` when it was
 * canceled or aborted, `ended-above`, `fenced`, `claimed`, `event-not-found` …), `stream-not-found`, or `claim-expired` when
 * no heartbeat was confirmed for so long that another may have taken it over.
 */
export interface LostClaim {
  readonly kind: 'lost'
  readonly code: string
  /** A sentence. */
  readonly message: string
}

/** How an event is worked on. */
export interface WorkOptions {
  /** Name of the worker: who holds the claim. */
  readonly owner: string
  /** Actor of the transactions. Default: the owner. */
  readonly by?: string
  /** Reason of the transactions. */
  readonly why?: string
  /**
   * How long the claim holds without a sign of life, ms; a heartbeat is sent at a third of it, or of the event's own timeout
   * where that is shorter. Default 60 000.
   */
  readonly claimMs?: number
  /** How long to wait for a lease held by another, ms. Default 10 000. */
  readonly leaseWaitMs?: number
  readonly write?: WriteMode
  /** Ends the work before its end: the job's signal aborts with `stopped`, and the event can be handed back. */
  readonly signal?: AbortSignal
}

/** The event to be worked on. */
export interface WorkTarget {
  readonly stream: string
  readonly event: string
}

/** The same for one event that is named. */
export interface EventWorkOptions extends WorkOptions {
  /** Claims it even from a worker that makes no claims and has not outlived its time. */
  readonly takeOver?: boolean
  /** Time and chance. Default: those of this machine. */
  readonly timing?: Timing
}

const CLAIM_MS = 60_000

export function claimMsOf({ claimMs }: Pick<WorkOptions, 'claimMs'>): number {
  return claimMs ?? CLAIM_MS
}

/** A transaction that was not done. */
export type NotCommitted =
  | Exclude<TransactOutcome, { readonly kind: 'done' | 'missing' }>
  /** There is no such stream. `isReplaced`: that of the claim was removed, and another has its name now. */
  | { readonly kind: 'missing'; readonly isReplaced?: boolean }

/** What came of working on one event. */
export type WorkOutcome =
  /** Reported: it stands in the stream. */
  | { readonly kind: 'reported'; readonly job: Job; readonly ending: WorkResult; readonly result: ChangeResult }
  /** It could not be claimed; no work was begun. */
  | { readonly kind: 'not-claimed'; readonly undone: NotCommitted }
  /** The claim was lost while the work ran: it was stopped, and nothing was reported. */
  | { readonly kind: 'lost'; readonly job: Job; readonly lost: LostClaim }
  /** The work ended so, but that could not be reported: refused, or unknown until the claim ran out. */
  | { readonly kind: 'unreported'; readonly job: Job; readonly ending: WorkResult; readonly undone: NotCommitted }

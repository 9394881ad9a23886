import type { WriteMode } from '../store/store.ts'
import type { Timing } from '../util/clock.ts'

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

import type { StreamEvent } from '../stream/event.ts'
import type { EventSpec } from '../stream/operations/operation.ts'

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
export type Ending =
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

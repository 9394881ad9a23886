import type { LeaseView, WriteMode } from '../../store/store.ts'
import type { Authorship, ChangeResult, Refusal } from '../../stream/operations/operation.ts'
import type { Pin } from '../../stream/precondition.ts'

/** With a pin the change is refused (`changed`) unless the stream still stands as it was looked at. */
export interface TransactOptions extends Authorship, Pin {
  /** How long to wait for a lease held by another, ms. Default 10 000. */
  readonly leaseWaitMs?: number
  /** Write under this lease, which the caller holds. */
  readonly leaseId?: string
  /** How others are kept away. Default `lease`. */
  readonly write?: WriteMode
  /**
   * Called once the change is durable and before `transact` returns, for what follows from it: a message to the worker of a
   * join that this change released. Not called for a duplicate, nor where all is so already. What it throws `transact`
   * throws; the change stays made. A process that dies in between never calls it: it is a short cut, what must happen stands
   * in the stream.
   */
  readonly afterWrite?: (result: ChangeResult) => void | Promise<void>
  /** Shown to others while the lease is held: the command, in words. */
  readonly purpose?: string
  /** Ends the wait for a lease held by another: `held`. A change under way goes on to its end. */
  readonly stopWaiting?: AbortSignal
  readonly signal?: AbortSignal
}

/** What became of one transaction. Faults (no rights, unreachable, bad document) are thrown. */
export type TransactOutcome =
  | { readonly kind: 'done'; readonly result: ChangeResult; readonly commandId: string }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly commandId: string }
  /** There is no such stream. */
  | { readonly kind: 'missing' }
  /** Leased by another for longer than `leaseWaitMs`; nothing was changed. */
  | { readonly kind: 'held'; readonly lease: LeaseView; readonly waitedMs: number; readonly lastBy?: string }
  /** The given lease was lost; nothing was changed. */
  | { readonly kind: 'lost'; readonly code: string }
  /**
   * Sent, unanswered, unresolved: repeat with the same command id. With the cause `StreamReplaced` the stream it was sent to is
   * gone, and repeated it would be made in the one that has its name.
   */
  | { readonly kind: 'unknown'; readonly commandId: string; readonly cause: unknown }

import type { TransactOutcome } from '../ops/transact/types.ts'
import type { ChangeResult } from '../stream/operations/operation.ts'
import type { Ending, Job, LostClaim } from './job.ts'

/** A transaction that was not done. */
export type Undone =
  | Exclude<TransactOutcome, { readonly kind: 'done' | 'missing' }>
  /** There is no such stream. `isReplaced`: that of the claim was removed, and another has its name now. */
  | { readonly kind: 'missing'; readonly isReplaced?: boolean }

/** What came of working on one event. */
export type WorkOutcome =
  /** Reported: it stands in the stream. */
  | { readonly kind: 'reported'; readonly job: Job; readonly ending: Ending; readonly result: ChangeResult }
  /** It could not be claimed; no work was begun. */
  | { readonly kind: 'not-claimed'; readonly undone: Undone }
  /** The claim was lost while the work ran: it was stopped, and nothing was reported. */
  | { readonly kind: 'lost'; readonly job: Job; readonly lost: LostClaim }
  /** The work ended so, but that could not be reported: refused, or unknown until the claim ran out. */
  | { readonly kind: 'unreported'; readonly job: Job; readonly ending: Ending; readonly undone: Undone }

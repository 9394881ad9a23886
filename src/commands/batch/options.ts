import type { Description } from '../../cli/command.ts'
import type { ChangeFlags, GlobalOptions } from '../../cli/options.ts'
import type { SelectionOptions } from '../../cli/selection/flags.ts'
import type { LeaseView } from '../../store/store.ts'
import type { EventData } from '../../stream/data.ts'
import type { ChangeResult, Operation } from '../../stream/operations/operation.ts'

/** Arguments and flags of the batch commands. */
export interface BatchCommandOptions extends GlobalOptions, ChangeFlags, SelectionOptions {
  readonly event?: readonly string[]
  readonly skipMissing?: boolean
  readonly dryRun?: boolean
  readonly yes?: boolean
  /** Expected number of streams. */
  readonly expect?: number
  /** Number of streams changed at a time. */
  readonly concurrency?: number
  /** Number of streams changed in a second. */
  readonly rate?: number
  /** A run file; does the rest of its run. */
  readonly rerun?: string
  /** Outcomes in the run file to repeat. */
  readonly only?: readonly OutcomeWord[]
  /** Of `retry`: also what was canceled on request. */
  readonly reopenCanceled?: boolean
  /** Of `cancel` and `abort`: ends the stream at once, without undoing what it did. */
  readonly noCompensate?: boolean
  /** `suspend`: also hands back what is claimed. */
  readonly stop?: boolean
  /** `signal`: its name. */
  readonly signalName?: string
  /** `signal`: for every event that waits for it. */
  readonly every?: boolean
  /** `signal`: the input of the event that takes it. */
  readonly input?: EventData
  /** `rm`: also open streams. */
  readonly force?: boolean
  /** `lease break`: seconds until the lease ends. */
  readonly period?: number
  /** `lease break`: only leases that look abandoned: held for longer than this (ms), or stale for another reason. */
  readonly stale?: number
  /** `lease break`: the lease of the container. */
  readonly ofContainer?: boolean
  /** `rm`: blobs whose names no stream can have. */
  readonly blob?: readonly string[]
}

/** The options with a known actor. */
export interface SignedOptions extends BatchCommandOptions {
  readonly by: string
}

/** The outcomes of a target. Scripts compare these words. */
export const OUTCOME_WORDS = ['done', 'already', 'refused', 'busy', 'changed', 'failed', 'unknown'] as const

export type OutcomeWord = (typeof OUTCOME_WORDS)[number]

/** A command that makes one transaction in each target: the differences between such commands. */
export interface TransactCommand extends Omit<Description, 'kind' | 'formats' | 'effect'> {
  readonly name: string
  /** For the question: `cancels`. */
  readonly thirdPerson: string
  /** For the output: `canceled`. */
  readonly pastParticiple: string
  /** Help of `-e`; absent for a command that changes only whole streams. */
  readonly eventHelp?: string
  readonly leavesOut: LeavesOut
  /** The plan tries the operation on the documents: what would be refused is not tried. */
  readonly isTriedFirst?: boolean
  /** A stream is changed although it has changed since the preview: it only has to be the same one. */
  readonly pinsLifeOnly?: boolean
  /** Why the command needs a reason, if it does: the hint without one. */
  readonly whyReason?: string
  /** What the change did to other events, for the outcome of a batch. */
  readonly consequence?: (result: ChangeResult) => string | undefined
  /** The words for an outcome in place of `pastParticiple`, and its further fields in JSON. */
  readonly report?: (result: ChangeResult) => { readonly words?: string; readonly fields?: object }
  /** The operation on one event or, without one, on the stream as a whole. */
  readonly operation: (event: { readonly event?: string }, options: BatchCommandOptions) => Operation
}

/** Why a target of a filter or list is left out: `already final`. */
export type LeavesOut = (state: TargetState, options: BatchCommandOptions) => string | undefined

/** The state of a target when it is inspected. */
export interface TargetState {
  readonly status: string
  /** It has a final status, and nothing below it is open. */
  readonly isEnded: boolean
  /** An event of the stream was aborted; of an event: it was aborted or canceled. */
  readonly hasFailed: boolean
  /** An event of the stream was canceled on request; of an event: it was canceled. */
  readonly isCanceled: boolean
  /** An event of it has failed since the failures were last acknowledged. */
  readonly hasNewFailure: boolean
  readonly isSuspended: boolean
  /** It has not begun. */
  readonly isHeld: boolean
  /** Number of open events below it. */
  readonly openBelow: number
  /** The lease of its stream. */
  readonly lease?: LeaseView
}

export const ALREADY_FINAL: LeavesOut = ({ isEnded }) => (isEnded ? 'already final' : undefined)

import type { ChangeVerb, Preview } from '../ports.ts'
import { summaryOf } from './batch-text.ts'
import { targetsOf } from './change-targets.ts'
import type { World } from './context.ts'
import type { Batch, ChangeDialog, State } from './state.ts'
import { EMPTY_FIELD } from './text-field.ts'
import { noted, only, type Step } from './transition.ts'
import { lockReason } from './write-lock.ts'

/** A change is being carried out. */
export function isRunning(batch: Batch | undefined): batch is Batch & { readonly end: undefined } {
  return batch !== undefined && batch.end === undefined
}

/** Asks for a look at what a change would do, in front of the screen. Nothing is changed by that. */
export function asked(state: State, world: World, verb: ChangeVerb): Step {
  const refusal = refusalOf(state, world)
  if (refusal !== undefined) return only(noted(state, world, refusal, 'warn'))
  const { targets, note } = targetsOf(state, world, verb)
  const told = note === undefined ? state : noted(state, world, note, 'warn')
  if (targets.length === 0) return only(told)
  const request = state.requests + 1
  const dialog: ChangeDialog = {
    kind: 'change',
    request,
    verb,
    targets,
    preview: undefined,
    fault: undefined,
    reason: EMPTY_FIELD,
    typed: EMPTY_FIELD,
    focus: verb === 'break' ? 'no' : 'reason',
  }
  return only({ ...told, requests: request, dialog }, { kind: 'preview', request, verb, targets })
}

/** Why nothing can be begun now; `undefined` where it can. */
export function refusalOf(state: State, world: World): string | undefined {
  return lockReason(state, world) ?? (isRunning(state.batch) ? 'a change is under way: o shows it' : undefined)
}

/** The answer to what was asked last; others came too late. */
export function previewed(state: State, request: number, preview: Preview): State {
  const { dialog } = state
  if (dialog?.kind !== 'change' || dialog.request !== request) return state
  const isReasonTaken = preview.takesReason && preview.count > 0
  const focus = dialog.focus === 'reason' && isReasonTaken ? 'reason' : 'no'
  return { ...state, dialog: { ...dialog, preview, focus } }
}

export function previewFailed(state: State, request: number, fault: string): State {
  const { dialog } = state
  if (dialog?.kind !== 'change' || dialog.request !== request) return state
  return { ...state, dialog: { ...dialog, fault, focus: 'no' } }
}

/** How a change went on. */
export function withOutcome(state: State, outcome: Batch['outcomes'][number]): State {
  const { batch } = state
  return isRunning(batch) ? { ...state, batch: { ...batch, outcomes: [...batch.outcomes, outcome] } } : state
}

/** A change has come to its end: told where its dialog is closed. Who wanted to quit by then does. */
export function ended(state: State, world: World, end: NonNullable<Batch['end']>): Step {
  const { batch, dialog } = state
  if (!isRunning(batch)) return only(state)
  const after: Batch = { ...batch, end }
  const next: State = { ...state, batch: after, dialog: dialog?.kind === 'quit' ? undefined : dialog }
  if (batch.isLast) return only(next, { kind: 'quit' })
  if (dialog?.kind === 'outcomes') return only(next)
  const { text, isGood } = summaryOf(after)
  return only(noted(next, world, `${text}: o shows it`, isGood ? 'good' : 'warn'))
}

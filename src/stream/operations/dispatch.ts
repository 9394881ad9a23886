import { ROOT_ID } from '../event-id.ts'
import { advance, init } from './add-events.ts'
import { checkExpired, end } from './cancel-abort.ts'
import { checkOpen } from './checks.ts'
import type { Draft } from './draft.ts'
import type { ChangeResult, Operation, Refusal } from './operation.ts'
import { retry } from './retry.ts'
import { claimOf, complete, fail, release, set, start, touch } from './work.ts'

/** The outcome of an operation on the draft. */
export type DispatchResult =
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | ({ readonly kind: 'done' } & Reached)
  | ({ readonly kind: 'already' } & Reached)

/** The target, and the fields that only some operations report. */
type Reached = { readonly target: string } & Pick<ChangeResult, 'claim' | 'refused'>

/** Finds the target and applies the operation to the draft. */
export function dispatch(draft: Draft, operation: Operation): DispatchResult {
  if (operation.op === 'settle') return { kind: 'done', target: '' }
  if (operation.op === 'init') return verdictOf(init(draft, operation), ROOT_ID)
  const target = operation.event ?? draft.stream.root?.id ?? ''
  const position = draft.stream.positionOf(target)
  if (position < 0) return { kind: 'refused', refusal: notFound(target) }
  if (operation.op === 'retry') {
    const outcome = retry(draft, operation)
    if ('code' in outcome) return { kind: 'refused', refusal: outcome }
    return { kind: 'done', target: operation.event ?? '', ...(outcome.refused.length > 0 ? outcome : {}) }
  }
  const notExpired = operation.op === 'abort' && operation.expired && checkExpired(draft, operation.expired)
  if (notExpired) return { kind: 'refused', refusal: notExpired }
  if (operation.op === 'cancel' || operation.op === 'abort') return verdictOf(end(draft, position, operation), target)
  const verdict = verdictOf(checkOpen(draft.at(position)) ?? work(draft, position, operation), target)
  if (verdict.kind === 'refused' || (operation.op !== 'start' && operation.op !== 'touch')) return verdict
  const claim = claimOf(draft, position)
  return claim === undefined ? verdict : { ...verdict, claim }
}

type Work = Exclude<Operation, { op: 'init' | 'settle' | 'retry' | 'cancel' | 'abort' }>

function work(draft: Draft, position: number, operation: Work): Refusal | 'already' | undefined {
  switch (operation.op) {
    case 'start':
      return start(draft, position, operation)
    case 'touch':
      return touch(draft, position, operation)
    case 'release':
      return release(draft, position, operation)
    case 'advance':
      return advance(draft, position, operation)
    case 'complete':
      return complete(draft, position, operation)
    case 'fail':
      return fail(draft, position, operation)
    case 'set':
      return set(draft, position, operation)
    default:
      return operation satisfies never
  }
}

function verdictOf(outcome: Refusal | 'already' | undefined, target: string): DispatchResult {
  if (outcome === undefined) return { kind: 'done', target }
  if (outcome === 'already') return { kind: 'already', target }
  return { kind: 'refused', refusal: outcome }
}

function notFound(event: string): Refusal {
  return { code: 'event-not-found', event, status: '', message: `the stream has no event ${event}` }
}

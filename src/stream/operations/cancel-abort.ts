import { isFinal } from '../event.ts'
import { checkOpen } from './checks.ts'
import type { Draft } from './draft.ts'
import type { Operation, Refusal } from './operation.ts'

type End = Extract<Operation, { op: 'cancel' | 'abort' }>

/**
 * `cancel` and `abort`: the target gets exactly the status asked for, what is open below it is canceled.
 * On a target that is final already, what a foreign writer left open below is ended all the same.
 */
export function end(draft: Draft, position: number, operation: End): Refusal | 'already' | undefined {
  const event = draft.at(position)
  const status = operation.op === 'cancel' ? 'canceled' : 'aborted'
  const ended = cancelBelow(draft, position)
  if (!isFinal(event)) draft.endFailed(position, status, 'target', operation.msg)
  else if (ended === 0) return event.status === status ? 'already' : checkOpen(event)
  return undefined
}

/** Cancels every open event below, children before parents. Returns how many there were. */
export function cancelBelow(draft: Draft, position: number): number {
  const open = draft.stream.descendantPositions(position).filter(at => !isFinal(draft.at(at)))
  for (const at of open) draft.endFailed(at, 'canceled', 'cascade')
  return open.length
}

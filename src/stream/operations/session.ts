import { isFinal, isSkipped } from '../event.ts'
import { nextForkIds, nextStepId } from '../event-id.ts'
import { appendedMark, END_SIGNAL } from '../session.ts'
import { addSuccessor, checkUndo } from './add-events.ts'
import { checkOpen, refuse } from './checks.ts'
import type { Draft } from './draft.ts'
import { checkGates, closeGate } from './gates.ts'
import type { Operation, Refusal } from './operation.ts'

type Append = Extract<Operation, { op: 'append' }>

/**
 * Adds a step behind the last one that was appended, gated after it unless it is completed. The last event of the session
 * then waits for it too; with `last` no more can be appended.
 */
export function append(draft: Draft, { step, last = false }: Append): Refusal | undefined {
  const root = draft.at(0)
  const ended = checkOpen(root)
  if (ended !== undefined) return ended
  const { session, appended } = root.lc
  if (session === undefined) {
    return refuse(
      'no-session',
      root,
      'the stream is no session: steps are appended only to a stream made by append --create',
    )
  }
  const endAt = draft.stream.positionOf(session)
  if (endAt < 0 || isFinal(draft.at(endAt)) || draft.at(endAt).lc.signal !== END_SIGNAL) {
    return refuse('session-ended', root, 'the session has its last step already; append to another one')
  }
  const spec = { ...step, after: [...(step.after ?? []), ...openBefore(draft, appended)] }
  const refusal = checkGates(draft, 0, [spec]) ?? checkUndo(draft, 0, [spec])
  if (refusal !== undefined) return refusal
  const id = nextId(draft, appended)
  addSuccessor(draft, 0, id, spec)
  draft.patch(0, { lc: { appended: id } })
  const { id: event, status } = draft.at(0)
  draft.changes.push({ event, from: status, to: status, how: 'target', attr: appendedMark(id) })
  closeGate(draft, endAt, { after: id, ...(last ? {} : { signal: END_SIGNAL }) }, 'gate')
  return undefined
}

/** The last appended step, unless it has been passed. */
function openBefore(draft: Draft, appended: string | undefined): readonly string[] {
  const before = appended === undefined ? undefined : draft.stream.find(appended)
  if (before === undefined || before.status === 'completed' || isSkipped(before)) return []
  return [before.id]
}

function nextId(draft: Draft, appended: string | undefined): string {
  const ids = draft.stream.events.map(({ id }) => id)
  return appended === undefined ? (nextForkIds(ids, draft.at(0).id, 1)[0] ?? '') : nextStepId(ids, appended)
}

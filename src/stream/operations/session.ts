import { isFinal, isPassed, type StreamEvent } from '../event.ts'
import { nextForkIds, nextStepId } from '../event-id.ts'
import { appendedMark, END_SIGNAL, numberedStepId, stepNumber } from '../session.ts'
import { addSuccessor, checkUndo } from './add-events.ts'
import { checkOpen, refuse } from './checks.ts'
import type { Draft } from './draft.ts'
import { checkGates, closeGate } from './gates.ts'
import type { Operation, Refusal } from './operation.ts'

type Append = Extract<Operation, { op: 'append' }>

/** Where a step goes. */
interface Place {
  readonly id: string
  /** The step before it, unless that has been passed. */
  readonly after: readonly string[]
  /** The number of that, if it has not come. */
  readonly awaits?: number
  /** It becomes the last step of the session. */
  readonly isLast: boolean
}

/**
 * Adds a step behind the last one that was appended, gated after it unless it is completed; one with a number behind the one
 * before that, which may come later. The last event of the session then waits for the last step too; with `last` no more can
 * be appended, but those that are missing before it.
 */
export function append(draft: Draft, { step, seq, last = false }: Append): Refusal | undefined {
  const root = draft.at(0)
  const ended = checkOpen(root)
  if (ended !== undefined) return ended
  const { session } = root.lc
  if (session === undefined) {
    return refuse(
      'no-session',
      root,
      'the stream is no session: steps are appended only to a stream made by append --create',
    )
  }
  const place = seq === undefined ? behindLast(draft, root) : ofNumber(draft, root, session, seq)
  if ('code' in place) return place
  const endAt = draft.stream.positionOf(session)
  const isEnding = endAt < 0 || draft.at(endAt).lc.signal !== END_SIGNAL
  if (endAt < 0 || isFinal(draft.at(endAt)) || (isEnding && (place.isLast || last))) {
    return refuse('session-ended', root, 'the session has its last step already; append to another one')
  }
  if (last && !place.isLast) {
    return refuse('bad-step', root, `step ${seq} cannot be the last: a later one has come already`)
  }
  const refusal =
    checkGates(draft, 0, [{ ...step, after: [...(step.after ?? []), ...knownBefore(place)] }]) ??
    checkUndo(draft, 0, [step])
  if (refusal !== undefined) return refusal
  addStep(draft, step, place)
  if (place.isLast) closeGate(draft, endAt, { after: place.id, ...(last ? {} : { signal: END_SIGNAL }) }, 'gate')
  return undefined
}

function addStep(draft: Draft, step: Append['step'], { id, after, awaits, isLast }: Place): void {
  addSuccessor(
    draft,
    0,
    id,
    { ...step, after: [...(step.after ?? []), ...after] },
    awaits === undefined
      ? {}
      : {
          lc: { step: String(awaits) },
        },
  )
  if (!isLast) return
  draft.patch(0, { lc: { appended: id } })
  const { id: event, status } = draft.at(0)
  draft.changes.push({ event, from: status, to: status, how: 'target', attr: appendedMark(id) })
}

function behindLast(draft: Draft, root: StreamEvent): Place | Refusal {
  const { session = '', appended } = root.lc
  if (appended !== undefined && stepNumber(session, appended) !== undefined)
    return refuse('bad-step', root, 'the steps of this session have numbers: give the number of this one')
  const before = appended === undefined ? undefined : draft.stream.find(appended)
  const after = before === undefined || isPassed(before) ? [] : [before.id]
  return { id: nextId(draft, appended), after, isLast: true }
}

function ofNumber(draft: Draft, root: StreamEvent, session: string, seq: number): Place | Refusal {
  const { stream } = draft
  const { appended } = root.lc
  const highest = appended === undefined ? 0 : stepNumber(session, appended)
  if (highest === undefined)
    return refuse('bad-step', root, 'the steps of this session have no numbers: append without one')
  const id = numberedStepId(session, seq)
  if (stream.find(id) !== undefined || lastPassed(stream.events, session) >= seq)
    return refuse('step-taken', root, `step ${seq} of the session has come already, by another command`)
  const isLast = seq > highest
  if (seq === 1) return { id, after: [], isLast }
  const beforeId = numberedStepId(session, seq - 1)
  const before = stream.find(beforeId)
  if (before === undefined) return { id, after: [beforeId], awaits: seq - 1, isLast }
  return { id, after: isPassed(before) ? [] : [beforeId], isLast }
}

/** The step before, if it has come. */
function knownBefore({ after, awaits }: Place): readonly string[] {
  return awaits === undefined ? after : []
}

/** The number of the last step that has been passed: those before it were too, even if they were dropped. */
function lastPassed(events: readonly StreamEvent[], session: string): number {
  return events.reduce((last, event) => Math.max(last, isPassed(event) ? (stepNumber(session, event.id) ?? 0) : 0), 0)
}

function nextId(draft: Draft, appended: string | undefined): string {
  const ids = draft.stream.events.map(({ id }) => id)
  return appended === undefined ? (nextForkIds(ids, draft.at(0).id, 1)[0] ?? '') : nextStepId(ids, appended)
}

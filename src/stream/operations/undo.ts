/**
 * Undoing what a stream has done (compensation): when an event of a stream with this policy fails for good, or the
 * stream is ended as a whole, the same transaction cancels what is open and adds the undo sequence, a plan of steps
 * below an event `Undo`. The stream ends when they have.
 */

import { defined } from '../../util/defined.ts'
import { isFinal, isSuperseded, isUndo, type LcAttributeName, type StreamEvent } from '../event.ts'
import { nextForkIds, sortedById } from '../event-id.ts'
import { effectsOf } from '../journal/effects.ts'
import { reasonOf } from '../text.ts'
import { addSteps, addSuccessor, type PlannedStep } from './add-events.ts'
import { refuse } from './checks.ts'
import { FailureCounter, failedText } from './close.ts'
import type { Draft } from './draft.ts'
import { closeGate } from './gates.ts'
import type { Operation, Refusal } from './operation.ts'

/** Name of the event above the undo steps. */
const UNDO_NAME = 'Undo'
/** `lc:undoes` of that event: it undoes the whole stream. */
export const UNDOES_STREAM = '*'

type Ending = 'aborted' | 'canceled'

/** Ends a stream that compensates as a whole: it undoes first what it did. One that does so already is ended by force. */
export function endWhole(draft: Draft, status: Ending, msg: string | undefined): void {
  if (draft.stream.compensating) {
    draft.cancelBelow(0)
    // The reason of what began the undoing is not that of its end.
    if (msg === undefined) draft.restoreMessage(0)
    else draft.setMessage(0, msg)
    finish(draft, 'aborted', 'target')
  } else beginUndo(draft, status, msg, 'target')
}

/**
 * Cancels what is open and adds the undo sequence. With nothing to undo the stream ends at once.
 * @param how why the root changes: as the target of the operation, or because of an event that failed
 */
function beginUndo(draft: Draft, ending: Ending, msg: string | undefined, how: 'target' | 'cascade'): void {
  draft.cancelBelow(0)
  draft.setMessage(0, msg)
  const steps = undoSteps(draft)
  const lc = { outcome: 'compensating', ending }
  draft.patch(0, { lc })
  if (steps.length === 0) {
    finish(draft, ending, how)
    return
  }
  draft.dropClaim(0)
  draft.setStatus(0, 'inprocess', how, { lc })
  const at = draft.stream.events.length
  const ids = draft.stream.events.map(({ id }) => id)
  const [id = ''] = nextForkIds(ids, draft.at(0).id, 1)
  addSuccessor(draft, 0, id, { name: UNDO_NAME }, { lc: { undoes: UNDOES_STREAM }, status: 'inprocess' })
  addSteps(draft, at, steps)
}

/** One step for each event that may have had an effect and names what undoes it, each after the one before. */
function undoSteps(draft: Draft): PlannedStep[] {
  const effects = effectsOf(draft.stream, draft.transactions).filter(({ position }) => {
    const event = draft.at(position)
    return event.lc.undo !== undefined && !isUndo(event)
  })
  return effects.map(({ position, isUnsure }, at) => {
    const { id, key, topic, tag, trackingId, input, lc } = draft.at(position)
    const { retry, attemptTimeout } = lc
    return {
      name: lc.undo ?? '',
      ref: id,
      key,
      topic,
      tag,
      trackingId,
      ...defined({ retry, attemptTimeout, data: input }),
      thread: 0,
      needs: at === 0 ? [] : [at - 1],
      lc: { undoes: id, ...(isUnsure ? { unsure: 'yes' } : {}) },
    }
  })
}

/**
 * Ends a stream whose undo sequence is over: as compensated, or as failed to, with the undo steps that failed. Only the
 * outcome changes on a root that another writer has ended.
 */
export function finish(draft: Draft, status: Ending, how: 'target' | 'cascade' | 'close'): void {
  const failed = failedUndoSteps(draft)
  const lc: { [Name in LcAttributeName]?: string } =
    failed.length === 0
      ? { outcome: 'compensated' }
      : { outcome: 'compensation-failed', failed: failedText({ ids: failed.slice(0, 50), total: failed.length }) }
  draft.patch(0, { lc })
  if (isFinal(draft.at(0))) draft.isDirty = true
  else draft.setStatus(0, status, how, { lc })
}

/** How the stream is to end when its undo sequence is over. */
export function endingOf({ lc }: StreamEvent): Ending {
  return lc.ending === 'canceled' ? 'canceled' : 'aborted'
}

/** Ids of the undo steps that are not completed, or have a failure below. */
function failedUndoSteps(draft: Draft): string[] {
  const failures = new FailureCounter(draft.stream)
  const failed = draft.stream.events.filter((event, at) => {
    if (!isUndo(event) || event.lc.undoes === UNDOES_STREAM || isSuperseded(event)) return false
    return event.status !== 'completed' || failures.below(at).total > 0
  })
  return sortedById(failed, ({ id }) => id).map(({ id }) => id)
}

type Retry = Extract<Operation, { op: 'retry' }>

/** Refuses to retry what a stream has undone: its effects are gone. Undo steps themselves can be retried. */
export function checkRetry(draft: Draft, { event }: Retry): Refusal | undefined {
  const root = draft.at(0)
  const { outcome } = root.lc
  if (outcome === 'compensated') {
    return refuse('compensated', root, 'what the stream did has been undone; start a new stream')
  }
  if (outcome !== 'compensating' && outcome !== 'compensation-failed') return undefined
  const target = event === undefined ? undefined : draft.stream.find(event)
  if (event === undefined && outcome === 'compensation-failed') return undefined
  const above = event === undefined ? [] : draft.stream.ancestorPositions(draft.stream.positionOf(event))
  if (target !== undefined && [target, ...above.map(at => draft.at(at))].some(isUndo)) return undefined
  return refuse(
    outcome === 'compensating' ? 'compensating' : 'compensated',
    target ?? root,
    outcome === 'compensating'
      ? 'the stream is undoing what it did; only a failed undo step can be retried, by name'
      : 'the stream has undone what it did; only its failed undo steps can be retried',
  )
}

/**
 * Undo steps keep their order when several are retried: each waits for the one before.
 * @param positions events that were reopened: undo steps, or events below them
 */
export function gateUndoSteps(draft: Draft, positions: readonly number[]): void {
  const steps = positions.flatMap(at => {
    const step = [at, ...draft.stream.ancestorPositions(at)].find(above => isUndo(draft.at(above)))
    return step === undefined ? [] : [{ at, id: draft.at(step).id }]
  })
  let before = ''
  let last = ''
  for (const { at, id } of sortedById(steps, step => step.id)) {
    if (id !== last) before = last
    last = id
    if (before !== '') closeGate(draft, at, { after: before }, 'gate')
  }
}

/** What is left to do about the failures of an open stream by its policy. Part of settling. */
export function applyPolicy(draft: Draft): void {
  const root = draft.stream.root
  if (root === undefined) return
  const { onFailure, outcome } = root.lc
  if (isFinal(root)) {
    // Another writer has ended it.
    if (outcome === 'compensating') finish(draft, endingOf(root), 'close')
    return
  }
  if ((onFailure !== 'stop' && onFailure !== 'compensate') || outcome === 'compensating') return
  const failure = firstNewFailure(draft, root)
  if (failure === undefined) return
  const msg = failure.msg === '' ? `${failure.id} ${failure.name} failed` : failure.msg
  if (onFailure === 'compensate') beginUndo(draft, 'aborted', msg, 'cascade')
  else stop(draft, msg)
  if (draft.reason === '') draft.reason = reasonOf(msg)
}

function stop(draft: Draft, msg: string): void {
  draft.cancelBelow(0)
  draft.endFailed(0, 'aborted', 'cascade', msg)
}

/** The aborted event that ended first. What had failed before the stream was retried is known. */
function firstNewFailure(draft: Draft, root: StreamEvent): StreamEvent | undefined {
  const { stream, readTime } = draft
  const aborted = stream.events.filter(
    (event, at) => at !== 0 && event.status === 'aborted' && !isSuperseded(event) && stream.counts(at),
  )
  if (aborted.length === 0) return undefined
  const isKnown = root.lc.attempt === undefined ? () => false : failuresBeforeRetry(draft, root)
  let first: StreamEvent | undefined
  let firstMs = Number.POSITIVE_INFINITY
  for (const event of aborted) {
    const ms = readTime(event.timestamp) ?? 0
    if (isKnown(event.id) || ms >= firstMs) continue
    first = event
    firstMs = ms
  }
  return first
}

/** Whether an event had ended before the latest retry of the stream: versions tell, as other writers' clocks may not. */
function failuresBeforeRetry({ transactions, changes }: Draft, { id: root }: StreamEvent): (id: string) => boolean {
  const isRetried = changes.some(({ event, from }) => event === root && isFinal({ status: from }))
  const retried = isRetried
    ? Number.POSITIVE_INFINITY
    : (transactions.findLast(({ op }) => op === 'retry')?.version ?? 0)
  const changed = new Set(changes.map(({ event }) => event))
  const versions = new Map<string, number>()
  for (const { version, changes: earlier } of transactions) {
    for (const { event, attr } of earlier) if (attr === undefined) versions.set(event, version)
  }
  return id => !changed.has(id) && (versions.get(id) ?? 0) <= retried
}

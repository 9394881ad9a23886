import { isFinal, isSuperseded, type StreamEvent } from '../event.ts'
import { reasonOf } from '../text.ts'
import { deadlineOf } from '../time/deadlines.ts'
import { checkOpen, refuse } from './checks.ts'
import type { Draft } from './draft.ts'
import type { ObservedDeadline, Operation, Refusal } from './operation.ts'
import { endWhole } from './undo.ts'

/** Acknowledges the failures of the stream: the root remembers when. */
export function acknowledge(draft: Draft): Refusal | 'already' | undefined {
  const { stream } = draft
  const failed = stream.events.filter(
    (event, at) => event.status === 'aborted' && !isSuperseded(event) && stream.counts(at),
  )
  const root = draft.at(0)
  if (failed.length === 0) return refuse('not-failed', root, 'no event has failed; there is nothing to acknowledge')
  const ackMs = draft.readTime(root.lc.ack ?? '') ?? Number.NEGATIVE_INFINITY
  if (failed.every(({ timestamp }) => (draft.readTime(timestamp) ?? 0) <= ackMs)) return 'already'
  draft.patch(0, { lc: { ack: draft.now } })
  draft.changes.push({ event: root.id, from: root.status, to: root.status, how: 'target', attr: 'ack' })
  return undefined
}

type End = Extract<Operation, { op: 'cancel' | 'abort' }>

/**
 * `cancel` and `abort`: the target gets exactly the requested status, open events below it become canceled. Below a
 * target that is already final, events that a foreign writer left open are ended too. A stream that compensates undoes
 * first what it did.
 */
export function end(draft: Draft, position: number, operation: End): Refusal | 'already' | undefined {
  const event = draft.at(position)
  const { op, msg, noCompensate } = operation
  const status = op === 'cancel' ? 'canceled' : 'aborted'
  const { compensates, compensating } = draft.stream
  if (position === 0 && compensating && op === 'cancel') return noCompensate === true ? refuseForce(event) : 'already'
  draft.reason = reasonOf(msg)
  if (position === 0 && compensates && (compensating || noCompensate !== true)) {
    endWhole(draft, status, msg)
    return undefined
  }
  const ended = draft.cancelBelow(position)
  if (!isFinal(event)) draft.endFailed(position, status, 'target', msg)
  else if (ended === 0) return event.status === status ? 'already' : checkOpen(event)
  return undefined
}

function refuseForce(root: StreamEvent): Refusal {
  return refuse('compensating', root, 'the stream is undoing what it did already; abort ends that by force')
}

/** The observed state of an event with a deadline at `dueMs`, for `checkExpired`. */
export function observedDeadline(event: StreamEvent, dueMs: number): ObservedDeadline {
  const { id, status, timestamp, lc } = event
  return { event: id, status, attempt: lc.attempt ?? '', fence: lc.fence ?? '', timestamp, dueMs }
}

/**
 * Refuses to abort an expired event unless it is exactly as observed, and due by the clock of this transaction: an
 * event with a heartbeat since then is never aborted.
 */
export function checkExpired(draft: Draft, observed: ObservedDeadline): Refusal | undefined {
  const event = draft.stream.find(observed.event)
  if (event === undefined) return gone(observed)
  const ended = checkOpen(event)
  if (ended !== undefined) return ended
  const difference = differenceOf(draft, event, observed)
  if (difference === undefined) return undefined
  return refuse('showed-life', event, `${event.id} showed life: ${difference}; its deadline is evaluated again`)
}

function differenceOf(draft: Draft, event: StreamEvent, observed: ObservedDeadline): string | undefined {
  const now = observedDeadline(event, observed.dueMs)
  if (now.status !== observed.status) return `it was ${observed.status} and is ${now.status}`
  if (now.attempt !== observed.attempt || now.fence !== observed.fence) return 'it was claimed again'
  const limit = deadlineOf(draft.stream, event, draft.readTime)
  // Heartbeats do not prolong an attempt.
  const isTouched = limit?.kind !== 'attempt' && now.timestamp !== observed.timestamp
  if (isTouched) return `it was touched at ${now.timestamp}`
  if (limit === undefined) return 'it has no running timeout now'
  // For a time ahead of the clock, only the observer knows since when the time has been there.
  const isOther = limit.isAhead ? observed.dueMs > limit.dueMs : observed.dueMs !== limit.dueMs
  if (isOther) return 'its deadline has changed'
  return observed.dueMs > draft.nowMs ? "its deadline has not passed by the store's clock" : undefined
}

function gone({ event }: ObservedDeadline): Refusal {
  return { code: 'event-not-found', event, status: '', message: `the stream has no event ${event} any more` }
}

import { isFinal, isSuperseded, type StreamEvent } from '../event.ts'
import { reasonOf } from '../text.ts'
import { deadlineOf } from '../time/deadlines.ts'
import { checkOpen, refuse } from './checks.ts'
import type { Draft } from './draft.ts'
import type { ObservedDeadline, Operation, Refusal } from './operation.ts'

type End = Extract<Operation, { op: 'cancel' | 'abort' }>

/**
 * `cancel` and `abort`: the target gets exactly the status asked for, what is open below it is canceled.
 * On a target that is final already, what a foreign writer left open below is ended all the same.
 */
export function end(draft: Draft, position: number, operation: End): Refusal | 'already' | undefined {
  const event = draft.at(position)
  const status = operation.op === 'cancel' ? 'canceled' : 'aborted'
  const ended = cancelBelow(draft, position)
  draft.reason = reasonOf(operation.msg)
  if (!isFinal(event)) draft.endFailed(position, status, 'target', operation.msg)
  else if (ended === 0) return event.status === status ? 'already' : checkOpen(event)
  return undefined
}

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

/** Cancels every open event below, children before parents. Returns how many there were. */
export function cancelBelow(draft: Draft, position: number): number {
  const open = draft.stream.descendantPositions(position).filter(at => !isFinal(draft.at(at)))
  for (const at of open) draft.endFailed(at, 'canceled', 'cascade')
  return open.length
}

/** What was seen of an event whose limit ends at `dueMs`, to be compared later. */
export function seenLimit(event: StreamEvent, dueMs: number): ObservedDeadline {
  const { id, status, timestamp, lc } = event
  return { event: id, status, attempt: lc.attempt ?? '', fence: lc.fence ?? '', timestamp, dueMs }
}

/**
 * Refuses what a limit was to end unless the event is to the letter what was seen, and due by the clock of this
 * transaction: a worker that showed life since then is never ended.
 */
export function checkExpired(draft: Draft, seen: ObservedDeadline): Refusal | undefined {
  const event = draft.stream.find(seen.event)
  if (event === undefined) return gone(seen)
  const ended = checkOpen(event)
  if (ended !== undefined) return ended
  const difference = differenceOf(draft, event, seen)
  if (difference === undefined) return undefined
  return refuse('showed-life', event, `${event.id} showed life: ${difference}; its limit is judged anew`)
}

function differenceOf(draft: Draft, event: StreamEvent, seen: ObservedDeadline): string | undefined {
  const now = seenLimit(event, seen.dueMs)
  if (now.status !== seen.status) return `it was ${seen.status} and is ${now.status}`
  if (now.attempt !== seen.attempt || now.fence !== seen.fence) return 'it was claimed anew'
  if (now.timestamp !== seen.timestamp) return `it was touched at ${now.timestamp}`
  const limit = deadlineOf(draft.stream, event, draft.readTime)
  if (limit === undefined) return 'no limit of it runs now'
  // Of a time ahead of the clock only who watched can say since when it stands.
  const isOther = limit.isAhead ? seen.dueMs > limit.dueMs : seen.dueMs !== limit.dueMs
  if (isOther) return 'its limit ends at another time now'
  return seen.dueMs > draft.nowMs ? 'its limit has not ended by the clock of the store' : undefined
}

function gone({ event }: ObservedDeadline): Refusal {
  return { code: 'event-not-found', event, status: '', message: `the stream has no event ${event} any more` }
}

import { type AttributeName, attemptOf, type LcAttributeName } from '../event.ts'
import { cutBytes, TEXT_LIMITS } from '../text.ts'
import { isoTime } from '../time/dates.ts'
import { claimEndMs, silenceLimitMs } from '../time/deadlines.ts'
import { cancelBelow } from './cancel-abort.ts'
import { checkClaim, checkHolder, checkNotEndedAbove, checkNotWaitingJoin } from './checks.ts'
import { writeErrorSummary } from './close.ts'
import type { Draft } from './draft.ts'
import type { ClaimResult, Operation, Refusal } from './operation.ts'
import { refuse } from './refuse.ts'

type Of<Name extends Operation['op']> = Extract<Operation, { op: Name }>

/** The heartbeat: extends the claim, never shortens it. Leaves no trace in the journal. */
export function touch(draft: Draft, position: number, operation: Of<'touch'>): Refusal | undefined {
  const event = draft.at(position)
  const refusal = checkHolder(draft, event, operation) ?? checkNotEndedAbove(draft, position)
  if (refusal !== undefined) return refusal
  const untilMs = Math.max(claimEndMs(event) ?? 0, draft.nowMs + operation.claimMs)
  draft.patch(position, { attributes: { timestamp: draft.now }, lc: { until: isoTime(untilMs) } })
  draft.setMessage(position, operation.msg)
  return undefined
}

/** Hands the event back as it was: `init` for whoever comes next, the same attempt, no progress text. */
export function release(draft: Draft, position: number, operation: Of<'release'>): Refusal | undefined {
  const event = draft.at(position)
  const refusal = checkHolder(draft, event, operation)
  if (refusal !== undefined) return refusal
  draft.dropClaim(position)
  draft.restoreMessage(position)
  draft.setStatus(position, 'init', 'target')
  return undefined
}

/**
 * Ends the event well. Open successors keep it open. With failures below, `WithError` is its `msg` and a text that is
 * given only the journal's reason: an early failure must not hide behind it.
 */
export function complete(draft: Draft, position: number, operation: Of<'complete'>): Refusal | undefined {
  const event = draft.at(position)
  const refusal = checkClaim(draft, event, operation) ?? checkNotWaitingJoin(event)
  if (refusal !== undefined) return refusal
  if (draft.stream.openSuccessors(event)) {
    return refuse(
      'open-successors',
      event,
      `${event.id} still has open successors; it closes by itself when they have ended`,
    )
  }
  if (writeErrorSummary(draft, position)) draft.displaced = cutBytes(operation.msg ?? '', TEXT_LIMITS.reason)
  else draft.setMessage(position, operation.msg)
  draft.setStatus(position, 'completed', 'target')
  return undefined
}

/** Ends the event as failed; what is open below it is canceled. */
export function fail(draft: Draft, position: number, operation: Of<'fail'>): Refusal | undefined {
  const event = draft.at(position)
  const refusal = checkClaim(draft, event, operation) ?? checkNotWaitingJoin(event)
  if (refusal !== undefined) return refusal
  cancelBelow(draft, position)
  draft.endFailed(position, 'aborted', 'target', operation.msg)
  return undefined
}

/** Changes free attributes; the status stays. `already` if they are so. */
export function set(draft: Draft, position: number, operation: Of<'set'>): Refusal | 'already' | undefined {
  const event = draft.at(position)
  const refusal = checkClaim(draft, event, operation) ?? checkNotEndedAbove(draft, position)
  if (refusal !== undefined) return refusal
  const { onDue, ...attributes } = operation.attributes
  const changed = Object.entries(attributes)
    .filter(([name, value]) => event[name as AttributeName] !== value)
    .map(([name]) => name)
  const lc: { [Name in LcAttributeName]?: string | undefined } = {}
  if (onDue !== undefined && (event.lc.onDue ?? '') !== onDue) {
    lc.onDue = onDue === '' ? undefined : onDue
    changed.push('onDue')
  }
  if (changed.length === 0) return 'already'
  draft.patch(position, { attributes: { ...attributes, timestamp: draft.now }, lc })
  draft.changes.push({ event: event.id, from: event.status, to: event.status, how: 'target', attr: changed.join(' ') })
  return undefined
}

/** The claim as `start` and `touch` report it. */
export function claimOf(draft: Draft, position: number): ClaimResult | undefined {
  const event = draft.at(position)
  const { owner, fence, until } = event.lc
  if (owner === undefined || fence === undefined || until === undefined) return undefined
  const silenceMs = silenceLimitMs(draft.stream, event)
  const limit = silenceMs === undefined ? {} : { silenceMs }
  return { owner, fence: Number(fence), until, attempt: attemptOf(event), ...limit }
}

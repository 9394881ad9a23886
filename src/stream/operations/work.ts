import { type AttributeName, attemptOf, fenceOf, type LcAttributeName, type StreamEvent } from '../event.ts'
import { isOwnStatus } from '../journal/history.ts'
import { reasonOf } from '../text.ts'
import { isoTime } from '../time/dates.ts'
import { claimEndMs, claimRuns, isDue, silenceLimitMs } from '../time/deadlines.ts'
import { checkClaim, checkFence, checkHolder, checkNotEndedAbove, checkNotGated, refuse } from './checks.ts'
import { writeErrorSummary } from './close.ts'
import type { Draft } from './draft.ts'
import { checkAttempts } from './fail.ts'
import { closeGate } from './gates.ts'
import type { ClaimResult, Operation, Refusal } from './operation.ts'
import { checkNotSuspended, endHold } from './suspension.ts'

type Of<Name extends Operation['op']> = Extract<Operation, { op: Name }>

/** A heartbeat: extends the claim, never shortens it. Writes no journal entry. */
export function touch(draft: Draft, position: number, operation: Of<'touch'>): Refusal | undefined {
  const event = draft.at(position)
  const refusal = checkHolder(draft, event, operation) ?? checkNotEndedAbove(draft, position)
  if (refusal !== undefined) return refusal
  const untilMs = Math.max(claimEndMs(event) ?? 0, draft.nowMs + operation.claimMs)
  draft.patch(position, { attributes: { timestamp: draft.now }, lc: { until: isoTime(untilMs) } })
  draft.setMessage(position, operation.msg)
  return undefined
}

/** Hands the event back: `init`, or gated until a delay has passed; the same attempt, without the progress text. */
export function release(draft: Draft, position: number, operation: Of<'release'>): Refusal | undefined {
  const event = draft.at(position)
  const refusal = checkHolder(draft, event, operation)
  if (refusal !== undefined) return refusal
  draft.dropClaim(position)
  draft.restoreMessage(position)
  if (operation.delay === undefined) draft.setStatus(position, 'init', 'target')
  else closeGate(draft, position, { delay: operation.delay }, 'target')
  return undefined
}

/**
 * Completes the event. Open successors keep it open. With failures below, its `msg` is `WithError` and a given text
 * only becomes the journal's reason: it must not hide an early failure.
 */
export function complete(draft: Draft, position: number, operation: Of<'complete'>): Refusal | undefined {
  const event = draft.at(position)
  const refusal = checkClaim(draft, event, operation) ?? checkNotGated(event)
  if (refusal !== undefined) return refusal
  if (draft.stream.openSuccessors(event)) {
    return refuse(
      'open-successors',
      event,
      `${event.id} still has open successors; it closes by itself when they have ended`,
    )
  }
  if (writeErrorSummary(draft, position)) draft.reason = reasonOf(operation.msg)
  else draft.setMessage(position, operation.msg)
  draft.attach(position, 'result', operation.result)
  draft.setStatus(position, 'completed', 'target')
  return undefined
}

/** Changes free attributes; the status stays. `already` if they have these values. */
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
  // Not the progress of an attempt, which a retry would replace by the message before it.
  if (attributes.msg !== undefined) lc.msg = undefined
  if (changed.length === 0) return 'already'
  draft.patch(position, { attributes: { ...attributes, timestamp: draft.now }, lc })
  draft.changes.push({ event: event.id, from: event.status, to: event.status, how: 'target', attr: changed.join(' ') })
  return undefined
}

/** The claim that `start` and `touch` report. */
export function claimOf(draft: Draft, position: number): ClaimResult | undefined {
  const event = draft.at(position)
  const { owner, fence, until } = event.lc
  if (owner === undefined || fence === undefined || until === undefined) return undefined
  const silenceMs = silenceLimitMs(draft.stream, event)
  const limit = silenceMs === undefined ? {} : { silenceMs }
  return { owner, fence: Number(fence), until, attempt: attemptOf(event), ...limit }
}

type Start = Extract<Operation, { op: 'start' }>

/** Claims an event: `inprocess`, with owner, fence and the time until which the claim runs. */
export function start(draft: Draft, position: number, operation: Start): Refusal | 'already' | undefined {
  const event = draft.at(position)
  if (operation.fence !== undefined) {
    const fenced = checkFence(draft, event, operation.fence)
    if (fenced !== undefined) return fenced
  }
  const refusal = checkNotEndedAbove(draft, position) ?? checkNotGated(event) ?? checkNotHeld(draft, event)
  if (refusal !== undefined) return refusal
  const runs = claimRuns(event, draft.nowMs)
  if (runs && operation.fence !== undefined) return 'already'
  const suspended = checkNotSuspended(draft, event)
  if (suspended !== undefined) return suspended
  if (runs) return claimed(event)
  if (draft.stream.held) endHold(draft)
  if (event.status === 'init') return startInit(draft, position, operation)
  return startAgain(draft, position, operation)
}

function startInit(draft: Draft, position: number, operation: Start): undefined {
  const event = draft.at(position)
  // The successors of a held root or of a foreign writer's event do the work: there is nothing to claim.
  if (draft.stream.openSuccessors(event)) {
    draft.dropClaim(position)
    draft.setStatus(position, 'inprocess', 'target')
    return undefined
  }
  claim(draft, position, operation, attemptOf(event))
  return undefined
}

function startAgain(draft: Draft, position: number, operation: Start): Refusal | undefined {
  const event = draft.at(position)
  if (draft.stream.openSuccessors(event)) {
    return refuse(
      'already-advanced',
      event,
      `${event.id} is ${event.status} and waits for its successors; start one of those`,
    )
  }
  if (event.lc.owner !== undefined) {
    const refusal = checkAttempts(draft, event, operation.maxAttempts)
    if (refusal !== undefined) return refusal
    // The progress text of the last attempt must not replace the input of this one.
    draft.restoreMessage(position)
    claim(draft, position, operation, attemptOf(event) + 1)
    return undefined
  }
  if (event.status === 'inprocess' && (draft.stream.isRoot(event) || isOwnStatus(draft.transactions, event.id))) {
    claim(draft, position, operation, attemptOf(event))
    return undefined
  }
  if (operation.takeOver === true || isDue(draft.stream, event, draft.readTime, draft.nowMs)) {
    claim(draft, position, operation, attemptOf(event) + 1)
    return undefined
  }
  return refuse(
    'foreign-worker',
    event,
    `${event.id} is ${event.status || 'of no status'} at a worker without claims; wait until it is due, or take it over (--take-over)`,
  )
}

function claim(draft: Draft, position: number, { owner, claimMs }: Start, attempt: number): void {
  draft.patch(position, {
    lc: {
      owner,
      fence: String(draft.version),
      until: isoTime(draft.nowMs + claimMs),
      claimed: draft.now,
      attempt: String(attempt),
    },
  })
  draft.setStatus(position, 'inprocess', 'target', { owner, attempt })
}

function checkNotHeld(draft: Draft, event: StreamEvent): Refusal | undefined {
  if (!draft.stream.held || draft.stream.isRoot(event)) return undefined
  const root = draft.stream.root?.id ?? ''
  return refuse(
    'held',
    event,
    `the stream is held: its root ${root} is init; resume it, or start ${root}, to let it run`,
  )
}

function claimed(event: StreamEvent): Refusal {
  return refuse(
    'claimed',
    event,
    `${event.id} is claimed by ${event.lc.owner} (fence ${fenceOf(event) ?? '?'}) until ${event.lc.until}; wait, or take another event`,
  )
}

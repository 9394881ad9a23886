import { attemptOf, isFailed, isFinal, isSkipped, isSuperseded, type StreamEvent } from '../event.ts'
import { attemptsSinceRetry } from '../journal/history.ts'
import { DEFAULT_ATTEMPTS, DEFAULT_BACKOFF, parseRetry, pauseMs, retryPolicy } from '../retry-policy.ts'
import { reasonOf } from '../text.ts'
import { isoTime } from '../time/dates.ts'
import { checkClaim, checkNotEndedAbove, checkNotGated, refuse } from './checks.ts'
import type { Draft } from './draft.ts'
import { closeGate } from './gates.ts'
import type { Operation, Refusal } from './operation.ts'
import { endWhole } from './undo.ts'

type Fail = Extract<Operation, { op: 'fail' }>

/**
 * Ends the event as failed; open events below it become canceled. After a transient failure it is tried again instead,
 * while attempts are left.
 */
export function fail(draft: Draft, position: number, operation: Fail): Refusal | undefined {
  const event = draft.at(position)
  // The observed deadline is checked already: an attempt that runs too long ends in spite of its claim.
  const claim = operation.expired === undefined ? checkClaim(draft, event, operation) : undefined
  const refusal = claim ?? checkNotGated(event)
  if (refusal !== undefined) return refusal
  draft.reason = reasonOf(operation.msg)
  if (operation.transient === true) return failAttempt(draft, position, operation)
  draft.attach(position, 'result', operation.result)
  end(draft, position, operation.msg)
  return undefined
}

function end(draft: Draft, position: number, msg: string | undefined): void {
  if (position === 0 && draft.stream.compensates) {
    endWhole(draft, 'aborted', msg)
    return
  }
  draft.cancelBelow(position)
  draft.endFailed(position, 'aborted', 'target', msg)
}

/** Ends the attempt: the event waits for the next one, or fails after the last. */
function failAttempt(draft: Draft, position: number, { msg, retry, result }: Fail): Refusal | undefined {
  const event = draft.at(position)
  const refusal = checkNotEndedAbove(draft, position)
  if (refusal !== undefined) return refusal
  if (draft.stream.openSuccessors(event)) {
    const hint = 'its own work is done; fail one of its successors'
    return refuse('open-successors', event, `${event.id} still has open successors: ${hint}`)
  }
  const policy = retryPolicy(event.lc.retry) ?? parseRetry(retry ?? `${DEFAULT_ATTEMPTS} ${DEFAULT_BACKOFF}`)
  const used = attemptsSinceRetry(draft.transactions, event.id, attemptOf(event))
  if (used >= policy.attempts) {
    draft.attach(position, 'result', result)
    end(draft, position, usedUpText(used, msg))
    return undefined
  }
  const wake = isoTime(Math.ceil(draft.nowMs + pauseMs(policy, used, draft.commandId)))
  const attempt = attemptOf(event) + 1
  draft.dropClaim(position)
  draft.setMessage(position, msg)
  draft.patch(position, { lc: { attempt: String(attempt) } })
  closeGate(draft, position, { wake }, 'again', attempt)
  return undefined
}

function usedUpText(attempts: number, msg = ''): string {
  const text = `given up after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
  return msg === '' ? text : `${text}: ${msg}`
}

/**
 * Why an event whose claim has expired cannot be taken over: it has no attempts left. Whoever wanted to take it over
 * fails it with `noAttemptsText`.
 */
export function checkAttempts(draft: Draft, event: StreamEvent, maxAttempts: number | undefined): Refusal | undefined {
  const most = retryPolicy(event.lc.retry)?.attempts ?? maxAttempts
  if (most === undefined || attemptOf(event) < most) return undefined
  const used = attemptsSinceRetry(draft.transactions, event.id, attemptOf(event))
  if (used < most) return undefined
  return refuse('no-attempts', event, `${event.id} has failed: ${noAttemptsText(event, used)}`)
}

/** The message of an event that is failed because the claim of its last attempt has expired. */
export function noAttemptsText({ lc }: StreamEvent, attempts: number): string {
  return `given up after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}; the last was ${lc.owner ?? 'nobody'}'s`
}

type Skip = Extract<Operation, { op: 'skip' }>

/** Lets the stream go on in spite of a failure: what is gated after the event counts it as passed. */
export function skip(draft: Draft, position: number, operation: Skip): Refusal | 'already' | undefined {
  const event = draft.at(position)
  const { root } = draft.stream
  if (root?.lc.onFailure !== 'block') {
    const policy = root?.lc.onFailure ?? 'continue'
    return refuse('not-blocked', event, `the stream does not block on failures: its policy is ${policy}`)
  }
  const replaced = isSuperseded(event)
  if (replaced || !isFailed(event)) {
    const why = replaced ? 'was replaced when an event above it was retried' : `is ${event.status || 'of no status'}`
    return refuse('not-failed', event, `${event.id} ${why}; only aborted and canceled events can be skipped`)
  }
  if (isSkipped(event)) return 'already'
  if (isFinal(root)) {
    return refuse('already-final', root, `${root.id} is ${root.status}: nothing waits for ${event.id} any more`)
  }
  draft.patch(position, { lc: { skipped: draft.now } })
  draft.reason = reasonOf(operation.msg)
  draft.changes.push({ event: event.id, from: event.status, to: event.status, how: 'target', attr: 'skipped' })
  return undefined
}

import { isFinal, isGated, isSuperseded } from '../event.ts'
import type { EventStream } from '../event-stream.ts'
import { gatedAfter } from '../gate.ts'
import { addMissingSummary, canClose, close, FailureCounter } from './close.ts'
import type { Draft } from './draft.ts'
import { settleGate } from './gates.ts'
import { giveKeptSignals } from './signal.ts'
import { applyPolicy, endingOf, finish } from './undo.ts'

/**
 * Brings the whole document to rest: opens the gates whose conditions hold, completes opened events that need no
 * worker, closes parents whose successors have ended, and adds missing error summaries. First it does what the policy of
 * the stream demands after a failure.
 *
 * One pass from the leaves up, in which a change takes effect above it; what an ended event moves elsewhere — the
 * events gated after it, and then what is above them — is visited again at the end.
 */
export function settle(draft: Draft): void {
  if (draft.isSettled) return
  const { steps } = draft
  if (hasPolicy(draft.stream)) applyPolicy(draft)
  if (draft.signals.length > 0) giveKeptSignals(draft)
  settleAll(draft)
  // After a pass without changes the next pass finds nothing either, unless a time has to come first.
  if (draft.steps === steps && !waitsForTime(draft)) draft.markSettled()
}

/** Whether failures matter to the whole of the stream. */
function hasPolicy({ root }: EventStream): boolean {
  return root?.lc.onFailure !== undefined || root?.lc.outcome === 'compensating'
}

/** Whether an event could close once the claim on it has expired, or a gate could open at a time. */
function waitsForTime({ stream }: Draft): boolean {
  return stream.events.some((event, at) => {
    if (isFinal(event)) return false
    return (event.lc.until !== undefined && !stream.isLeaf(at)) || (isGated(event) && mayOpenByTime(event.lc))
  })
}

function mayOpenByTime({ wake, onDue }: { readonly wake?: string; readonly onDue?: string }): boolean {
  return wake !== undefined || onDue === 'open'
}

function settleAll(draft: Draft): void {
  const failures = new FailureCounter(draft.stream)
  let after: ReturnType<typeof gatedAfter> | undefined
  const visits = [...draft.stream.childrenFirst()]
  const visited = new Set<number>()
  for (const at of visits) {
    visited.add(at)
    const moved = settleEvent(draft, at, failures)
    if (moved === undefined) continue
    const event = draft.at(moved)
    if (!isFinal(event)) visits.push(moved)
    else {
      after ??= gatedAfter(draft.stream)
      visits.push(...(after.get(event.id) ?? []))
      // What is above has its own turn later, but for events on a cycle and those that moved after their turn.
      visits.push(...draft.stream.predecessorPositions(moved).filter(above => visited.has(above)))
    }
  }
}

/** Settles one event. Returns the position of the event that it opened or ended: others may go on because of it. */
function settleEvent(draft: Draft, at: number, failures: FailureCounter): number | undefined {
  const event = draft.at(at)
  if (isSuperseded(event)) return undefined
  // The gate of a join has its turn with the fork, after all branches.
  if (isGated(event)) return event.lc.join === undefined ? settleGate(draft, at, failures) : undefined
  if (draft.stream.isLeaf(at)) return completeIfAutomatic(draft, at)
  const join = draft.stream.waitingJoin(at)
  if (isFinal(event)) addMissingSummary(draft, at, failures)
  else if (join !== undefined) return settleGate(draft, join, failures)
  else if (canClose(draft, at)) return end(draft, at, failures)
  return undefined
}

/** Closes a parent; a stream that has undone what it did ends as it was to end. */
function end(draft: Draft, at: number, failures: FailureCounter): number {
  if (at !== 0 || !draft.stream.compensating) return close(draft, at, failures)
  finish(draft, endingOf(draft.at(0)), 'close')
  return at
}

/** An event with `lc:auto` needs no worker: it is completed as soon as a worker could claim it. */
function completeIfAutomatic(draft: Draft, at: number): number | undefined {
  const { status, lc } = draft.at(at)
  if (status !== 'init' || lc.auto === undefined || draft.stream.held || draft.stream.suspended) return undefined
  draft.setStatus(at, 'completed', 'gate')
  return at
}

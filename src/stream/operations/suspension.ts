import { fenceOf, isFinal, isSuperseded, type StreamEvent } from '../event.ts'
import type { EventStream } from '../event-stream.ts'
import { SUSPENDED } from '../journal/suspensions.ts'
import { suspensionOf, suspensionText } from '../suspension.ts'
import { reasonOf } from '../text.ts'
import { heldSinceMs, pausesAfter, suspendedSinceMs } from '../time/pauses.ts'
import { checkOpen, refuse } from './checks.ts'
import type { Draft } from './draft.ts'
import type { Operation, Refusal } from './operation.ts'

type Suspend = Extract<Operation, { op: 'suspend' }>

/**
 * Suspends the stream: from now on no event of it is claimed, and its limits stand still. What is claimed goes on, unless
 * `stop` hands it back: `init`, the same attempt.
 */
export function suspend(draft: Draft, { stop, msg }: Suspend, by: string): Refusal | 'already' | undefined {
  const root = draft.at(0)
  const ended = checkOpen(root)
  if (ended !== undefined) return ended
  const isNew = !draft.stream.suspended
  const handedBack = stop ? handBack(draft) : 0
  if (!isNew) return handedBack === 0 ? 'already' : undefined
  draft.reason = reasonOf(msg)
  draft.patch(0, { lc: { suspended: draft.now, suspendedBy: by, info: msg || undefined } })
  draft.changes.push({ event: root.id, from: root.status, to: root.status, how: 'target', attr: SUSPENDED })
  return undefined
}

/** Hands back every claimed event. Returns their number. */
function handBack(draft: Draft): number {
  let count = 0
  for (const [at, event] of [...draft.stream.events].entries()) {
    if (!draft.stream.counts(at) || !isClaimed(draft.stream, event)) continue
    draft.dropClaim(at)
    draft.restoreMessage(at)
    // A root that is `init` would hold the stream.
    draft.setStatus(at, at === 0 ? 'inprocess' : 'init', 'cascade')
    count += 1
  }
  return count
}

function isClaimed(stream: EventStream, event: StreamEvent): boolean {
  if (isFinal(event) || isSuperseded(event) || event.status !== 'inprocess') return false
  return event.lc.owner !== undefined && fenceOf(event) !== undefined && !stream.openSuccessors(event)
}

/**
 * Lets a suspended or held stream go on: the time that passed is added to the limits of its open events. A suspended
 * stream that was held before is held again. `already` for one that was resumed before.
 */
export function resume(draft: Draft): Refusal | 'already' | undefined {
  const root = draft.at(0)
  const { held, suspended } = draft.stream
  const ended = checkOpen(root)
  if (ended !== undefined) return ended
  if (suspended) {
    // The end of the hold counts all of it.
    if (!held) addPauses(draft, suspendedSinceMs(draft.stream, draft.readTime))
    draft.patch(0, { lc: { ...NOT_SUSPENDED, resumed: draft.now } })
    draft.changes.push({ event: root.id, from: root.status, to: root.status, how: 'target', attr: SUSPENDED })
    return undefined
  }
  if (held) {
    endHold(draft)
    draft.setStatus(0, 'inprocess', 'target')
    return undefined
  }
  if (root.lc.resumed !== undefined) return 'already'
  return refuse('not-suspended', root, 'the stream is neither suspended nor held; there is nothing to resume')
}

/** The attributes of a suspension, to remove it. */
export const NOT_SUSPENDED = { suspended: undefined, suspendedBy: undefined, info: undefined } as const

/** Before the root of a held stream is started: the limits count as if the stream began now. */
export function endHold(draft: Draft): void {
  addPauses(draft, heldSinceMs(draft.stream, draft.readTime))
  draft.patch(0, { lc: { resumed: draft.now } })
}

function addPauses(draft: Draft, sinceMs: number | undefined): void {
  const untilMs = draft.readTime(draft.now)
  if (sinceMs === undefined || untilMs === undefined) return
  for (const [at, paused] of [...pausesAfter(draft.stream, sinceMs, untilMs, draft.readTime)]) {
    draft.patch(at, { lc: { paused } })
  }
}

/** Refuses to begin work in a suspended stream: who suspended it, since when and why. */
export function checkNotSuspended({ stream }: Draft, event: StreamEvent): Refusal | undefined {
  const suspension = suspensionOf(stream)
  return suspension && refuse('suspended', event, `the stream is ${suspensionText(suspension)}; resume it, or wait`)
}

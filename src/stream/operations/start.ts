import { attemptOf, fenceOf, type StreamEvent } from '../event.ts'
import { ownStatus } from '../journal/history.ts'
import { isoTime } from '../time/dates.ts'
import { claimRuns, isDue } from '../time/deadlines.ts'
import { checkFence, checkNotEndedAbove, checkNotWaitingJoin } from './checks.ts'
import type { Draft } from './draft.ts'
import type { Operation, Refusal } from './operation.ts'
import { refuse } from './refuse.ts'

type Start = Extract<Operation, { op: 'start' }>

/** Claims an event: `inprocess`, with owner, fence and the time until which the claim runs. */
export function start(draft: Draft, position: number, operation: Start): Refusal | 'already' | undefined {
  const event = draft.at(position)
  if (operation.fence !== undefined) {
    const fenced = checkFence(event, operation.fence)
    if (fenced !== undefined) return fenced
  }
  const refusal = checkNotEndedAbove(draft, position) ?? checkNotWaitingJoin(event) ?? checkNotHeld(draft, event)
  if (refusal !== undefined) return refusal
  if (claimRuns(event, draft.nowMs)) return operation.fence === undefined ? claimed(event) : 'already'
  if (event.status === 'init') return startInit(draft, position, operation)
  return startAgain(draft, position, operation)
}

function startInit(draft: Draft, position: number, operation: Start): undefined {
  const event = draft.at(position)
  // Successors of a held root or of a foreign writer's event are at work: there is nothing to claim.
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
    // What the last attempt said of its progress is not what this one has to work on.
    draft.restoreMessage(position)
    claim(draft, position, operation, attemptOf(event) + 1)
    return undefined
  }
  if (event.status === 'inprocess' && (draft.stream.isRoot(event) || ownStatus(draft.transactions, event.id))) {
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
    `${event.id} is ${event.status || 'of no status'} at a worker that makes no claims; wait until it is due, or take it over (--take-over)`,
  )
}

function claim(draft: Draft, position: number, { owner, claimMs }: Start, attempt: number): void {
  draft.patch(position, {
    lc: {
      owner,
      fence: String(draft.version),
      until: isoTime(draft.nowMs + claimMs),
      attempt: String(attempt),
    },
  })
  draft.setStatus(position, 'inprocess', 'target', { owner, attempt })
}

function checkNotHeld(draft: Draft, event: StreamEvent): Refusal | undefined {
  if (!draft.stream.held || draft.stream.isRoot(event)) return undefined
  const root = draft.stream.root?.id ?? ''
  return refuse('held', event, `the stream is held: its root ${root} is init; start ${root} to let it run`)
}

function claimed(event: StreamEvent): Refusal {
  return refuse(
    'claimed',
    event,
    `${event.id} is claimed by ${event.lc.owner} (fence ${fenceOf(event) ?? '?'}) until ${event.lc.until}; wait or take another`,
  )
}

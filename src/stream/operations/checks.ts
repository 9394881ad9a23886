import { fenceOf, isFinal, type StreamEvent } from '../event.ts'
import type { EventStream } from '../event-stream.ts'
import { waitsFor } from '../gate.ts'
import { suspensionOf, suspensionText } from '../suspension.ts'
import { isoTime } from '../time/dates.ts'
import { claimRuns } from '../time/deadlines.ts'
import type { Draft } from './draft.ts'
import type { Claimant, Refusal, RefusalCode } from './operation.ts'

/**
 * Whether the caller may change an event that may be claimed. A given fence must be the event's own, and so must an
 * owner given with it: where another writer has dropped all history, fences start again from 1. Without a fence, only
 * the owner passes a running claim.
 */
export function checkClaim(draft: Draft, event: StreamEvent, claimant: Claimant): Refusal | undefined {
  if (claimant.fence !== undefined) return checkFence(draft, event, claimant.fence) ?? checkOwner(event, claimant)
  if (!claimRuns(event, draft.nowMs) || claimant.owner === event.lc.owner) return undefined
  return refuse(
    'claimed',
    event,
    `${event.id} is claimed by ${event.lc.owner} until ${event.lc.until}; give its fence or owner, or wait`,
  )
}

/**
 * Refuses as `fenced` unless the token is the event's: it was claimed again, or the claim was dropped. In a suspended
 * stream a dropped claim is refused as `suspended`, which tells the worker why it has to stop.
 */
export function checkFence({ stream }: Draft, event: StreamEvent, fence: number): Refusal | undefined {
  const current = fenceOf(event)
  if (current === fence) return undefined
  if (current === undefined && stream.suspended) return handedBack(stream, event)
  const now = current === undefined ? 'it is not claimed now' : `its fence is ${current} now`
  return refuse('fenced', event, `fence ${fence} of ${event.id} is no longer valid: ${now}; stop working on it`)
}

function handedBack(stream: EventStream, event: StreamEvent): Refusal | undefined {
  const suspension = suspensionOf(stream)
  const message = (why: string) => `the stream is ${why}; ${event.id} was handed back: stop working on it`
  return suspension && refuse('suspended', event, message(suspensionText(suspension)))
}

function checkOwner(event: StreamEvent, { owner, fence }: Claimant): Refusal | undefined {
  if (owner === undefined || owner === event.lc.owner) return undefined
  const holder = event.lc.owner ?? 'nobody'
  return refuse(
    'fenced',
    event,
    `fence ${fence} of ${event.id} now belongs to ${holder}, not to ${owner}; stop working on it`,
  )
}

/**
 * For touch and release: only the holder passes, even with an expired claim, until another worker takes over the event.
 * Without a fence in the event there is no claim, whoever is named as the owner.
 */
export function checkHolder(draft: Draft, event: StreamEvent, claimant: Claimant): Refusal | undefined {
  const refusal = checkClaim(draft, event, claimant)
  if (refusal !== undefined) return refusal
  const isClaimed = event.lc.owner !== undefined && fenceOf(event) !== undefined
  const isHolder = isClaimed && (claimant.fence !== undefined || claimant.owner === event.lc.owner)
  if (isHolder && event.status === 'inprocess') return undefined
  if (!isClaimed && draft.stream.suspended) return handedBack(draft.stream, event)
  return refuse('not-claimed', event, `${event.id} is ${event.status} and not claimed by you; start it first`)
}

/** Refuses a final event; the message says what is still possible. */
export function checkOpen(event: StreamEvent): Refusal | undefined {
  if (!isFinal(event)) return undefined
  const legal = event.status === 'completed' ? 'it cannot change any more' : 'retry can reopen it'
  return refuse('already-final', event, `${event.id} is ${event.status}; ${legal}`)
}

/** Refuses work below an event that has ended. A worker stops on this refusal. */
export function checkNotEndedAbove(draft: Draft, position: number): Refusal | undefined {
  const event = draft.at(position)
  const above = draft.stream.finalAncestor(position)
  if (above === undefined) return undefined
  return refuse(
    'ended-above',
    event,
    `${above.id} above ${event.id} is ${above.status}; stop working on ${event.id}, cancel or abort ${above.id} to end it`,
  )
}

/** Refuses work on an event with a closed gate: it says what the event waits for. */
export function checkNotGated(event: StreamEvent): Refusal | undefined {
  const what = waitsFor(event)
  if (what === undefined) return undefined
  const { id } = event
  switch (what.kind) {
    case 'branches':
      return refuse(
        'join-waiting',
        event,
        `${id} is a join that waits for its branches; it becomes init when they have ended`,
      )
    case 'step':
      return refuse('waiting', event, `${id} waits for step ${what.step} of the session, which has not come`)
    case 'after':
      return refuse(
        'waiting',
        event,
        `${id} waits until ${what.ids.join(' ')} ${what.ids.length === 1 ? 'is' : 'are'} completed`,
      )
    case 'signal':
      return refuse('waiting', event, `${id} waits for the signal ${what.name}`)
    case 'timer':
      return refuse(
        'waiting',
        event,
        `${id} waits until ${what.wakeMs === undefined ? 'a time that cannot be read' : isoTime(what.wakeMs)}`,
      )
    default:
      return what satisfies never
  }
}

/** A refusal about one event: the code, the status, and a sentence that says what would be legal. */
export function refuse(code: RefusalCode, event: StreamEvent, message: string): Refusal {
  const { owner, until } = event.lc
  const claim = code === 'claimed' || code === 'fenced'
  return {
    code,
    event: event.id,
    status: event.status,
    message,
    ...(claim && owner !== undefined ? { owner } : {}),
    ...(claim && until !== undefined ? { until } : {}),
  }
}

/** The refusal to make a stream: what is not made has no event with a status. */
export function withoutEvent(refusal: Refusal): Refusal {
  return { ...refusal, event: '', status: '' }
}

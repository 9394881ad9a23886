import { randomUUID } from 'node:crypto'
import { silenceDelay } from '../store/backoff.ts'
import { StoreUnreachable } from '../store/errors.ts'
import type { EventStore } from '../store/store.ts'
import { InvalidValue } from '../stream/errors.ts'
import type { ChangeResult } from '../stream/operations/operation.ts'
import type { Timing } from '../util/clock.ts'
import type { Claim } from './claim.ts'
import { failureOf, operationOf } from './endings.ts'
import type { Ending } from './job.ts'
import { underClaim } from './under-claim.ts'
import type { EventWorkOptions } from './work-options.ts'
import type { WorkOutcome } from './work-outcome.ts'

/** Refusals that say nothing of the claim but that an event cannot end like this. */
const IMPOSSIBLE: readonly string[] = ['stream-full', 'unlinkable-id', 'open-successors', 'already-advanced']

type Reported = Extract<WorkOutcome, { readonly kind: 'reported' | 'unreported' }>
type WithoutJob<Outcome> = Outcome extends unknown ? Omit<Outcome, 'job'> : never

/**
 * Writes how the work ended, under its fence and one command id. Without an answer, or kept out by a lease, it is tried
 * again until the claim is lost, and once more then: the fence keeps it from doing harm, and an earlier try may have landed.
 * What cannot be an end (no room for successors, texts that are none) fails the event instead: done again it would come to
 * the same.
 *
 * @param gone aborts when the claim is lost
 * @throws the store's faults (no rights, full, damaged), if they last until the claim is lost
 */
export async function report(
  store: EventStore,
  claim: Claim,
  ending: Ending,
  options: EventWorkOptions,
  { timing, gone }: { readonly timing: Timing; readonly gone: AbortSignal },
): Promise<WithoutJob<Reported>> {
  const operation = operationOf(ending, claim)
  const how = { ...options, commandId: randomUUID() }
  for (let attempt = 0; ; attempt++) {
    const isLast = gone.aborted
    const undone = await tried(underClaim(store, claim, operation, how), how.commandId, isLast)
    if (undone.kind === 'done') return { kind: 'reported', ending, result: asOurs(undone.result) }
    const why = whyNever(undone)
    if (why !== undefined && ending.op !== 'fail') {
      const failure = failureOf(new Error(`it ended with ${ending.op}, but ${why}`))
      return report(store, claim, failure, options, { timing, gone })
    }
    if (undone.kind === 'impossible') throw undone.cause
    if (isLast || undone.kind === 'refused' || undone.kind === 'missing') return { kind: 'unreported', ending, undone }
    await timing.pause(silenceDelay(attempt, undefined, timing.random), gone)
  }
}

/** Nobody else has the command id: a duplicate is an earlier try that landed, and whose result nobody has seen yet. */
function asOurs(result: ChangeResult): ChangeResult {
  return result.duplicate ? { ...result, outcome: 'done', duplicate: false } : result
}

type Change = ReturnType<typeof underClaim>
type Tried = Awaited<Change> | { readonly kind: 'impossible'; readonly cause: InvalidValue }

/** Why the event cannot end like this, now or later. */
function whyNever(tried: Tried): string | undefined {
  if (tried.kind === 'impossible') return tried.cause.message
  return tried.kind === 'refused' && IMPOSSIBLE.includes(tried.refusal.code) ? tried.refusal.message : undefined
}

async function tried(change: Change, commandId: string, isLast: boolean): Promise<Tried> {
  try {
    return await change
  } catch (cause) {
    if (cause instanceof InvalidValue) return { kind: 'impossible', cause }
    if (isLast && !(cause instanceof StoreUnreachable)) throw cause
    return { kind: 'unknown', commandId, cause }
  }
}

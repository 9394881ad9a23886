import { randomUUID } from 'node:crypto'
import { unansweredDelay } from '../store/backoff.ts'
import { StoreUnreachable } from '../store/errors.ts'
import type { StreamStore } from '../store/store.ts'
import { InvalidValue } from '../stream/errors.ts'
import type { ChangeResult, Operation } from '../stream/operations/operation.ts'
import { cleanProgramText, TEXT_LIMITS } from '../stream/text.ts'
import { text } from '../stream/values.ts'
import { machineTiming, type Timing } from '../util/clock.ts'
import { attemptKey, type Claim, changeUnderClaim, claimEvent } from './claim.ts'
import { Heartbeat, limitWarning } from './heartbeat.ts'
import type {
  EventWorkOptions,
  Job,
  LostClaim,
  StopReason,
  Work,
  WorkOutcome,
  WorkResult,
  WorkTarget,
} from './types.ts'

/**
 * Works on one event: claims it, runs `work`, keeps the claim alive meanwhile, and reports how it ended. Work that is to
 * stop learns it by the signal of its job; once the claim is lost nothing is reported, whatever the work says then. Stopped
 * by `options.signal` it may still end the event, or hand it back: what throws then does.
 *
 * @returns reported, not-claimed, lost or unreported; see `WorkOutcome`
 * @throws the signal's reason, if it was aborted from the beginning; the faults of the store when it claims (nothing was
 * done then), and those but `StoreUnreachable` that keep the end from being reported until the claim is lost
 */
export async function workEvent(
  store: StreamStore,
  target: WorkTarget,
  options: EventWorkOptions,
  work: Work,
): Promise<WorkOutcome> {
  options.signal?.throwIfAborted()
  const { timing = machineTiming } = options
  const outcome = await claimEvent(store, target, options, timing)
  if (outcome.kind === 'not-claimed') return outcome
  const { claim } = outcome
  const gone = new AbortController()
  const stop = new AbortController()
  let lost: LostClaim | undefined
  const heartbeat = new Heartbeat(store, claim, options, timing, reason => {
    lost = reason
    gone.abort()
    stop.abort(reason)
  })
  const job = jobOf(claim, options, heartbeat, { signal: stop.signal, nowMs: store.nowMs() })
  const stopped = () => stop.abort({ kind: 'stopped', reason: options.signal?.reason } satisfies StopReason)
  options.signal?.addEventListener('abort', stopped)
  if (options.signal?.aborted) stopped()
  const beating = heartbeat.run()
  try {
    const ending = await worked(work, job)
    if (lost !== undefined) return { kind: 'lost', job, lost }
    return { ...(await report(store, claim, ending, options, { timing, gone: gone.signal })), job }
  } finally {
    options.signal?.removeEventListener('abort', stopped)
    heartbeat.stop()
    await beating
  }
}

function jobOf(
  claim: Claim,
  { owner }: EventWorkOptions,
  heartbeat: Heartbeat,
  { signal, nowMs }: { readonly signal: AbortSignal; readonly nowMs: number },
): Job {
  const { stream, state: event, fence, attempt, born, silenceMs } = claim
  const warning = limitWarning(event, silenceMs, nowMs)
  return {
    stream,
    event,
    owner,
    fence,
    born,
    attempt,
    attemptKey: attemptKey(born, event.id, attempt),
    ...(warning === undefined ? {} : { limitWarning: warning }),
    signal,
    progress: async msg => heartbeat.beat(messageText(text(msg, 'msg'))),
  }
}

/** Work that was stopped before it began, or throws because it was, hands its event back. */
async function worked(work: Work, job: Job): Promise<WorkResult> {
  if (job.signal.aborted) return RELEASE
  try {
    return (await work(job)) ?? COMPLETE
  } catch (error) {
    return job.signal.aborted ? RELEASE : failureOf(error)
  }
}

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
async function report(
  store: StreamStore,
  claim: Claim,
  ending: WorkResult,
  options: EventWorkOptions,
  { timing, gone }: { readonly timing: Timing; readonly gone: AbortSignal },
): Promise<WithoutJob<Reported>> {
  const operation = operationOf(ending, claim)
  const how = { ...options, commandId: randomUUID() }
  for (let attempt = 0; ; attempt++) {
    const isLast = gone.aborted
    const undone = await tried(changeUnderClaim(store, claim, operation, how), how.commandId, isLast)
    if (undone.kind === 'done') return { kind: 'reported', ending, result: asOurs(undone.result) }
    const why = whyNever(undone)
    if (why !== undefined && ending.op !== 'fail') {
      const failure = failureOf(new Error(`it ended with ${ending.op}, but ${why}`))
      return report(store, claim, failure, options, { timing, gone })
    }
    if (undone.kind === 'impossible') throw undone.cause
    if (isLast || undone.kind === 'refused' || undone.kind === 'missing') return { kind: 'unreported', ending, undone }
    await timing.pause(unansweredDelay(attempt, undefined, timing.random), gone)
  }
}

/** Nobody else has the command id: a duplicate is an earlier try that landed, and whose result nobody has seen yet. */
function asOurs(result: ChangeResult): ChangeResult {
  return result.duplicate ? { ...result, outcome: 'done', duplicate: false } : result
}

type Change = ReturnType<typeof changeUnderClaim>
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

const COMPLETE: WorkResult = { op: 'complete' }
export const RELEASE: WorkResult = { op: 'release' }

/** What an ending means for the stream. */
function operationOf(ending: WorkResult, { event, fence }: Claim): Operation {
  switch (ending.op) {
    case 'complete':
    case 'fail':
      return { op: ending.op, event, fence, ...(ending.msg === undefined ? {} : { msg: messageText(ending.msg) }) }
    case 'advance': {
      const { next, join, forks = [] } = ending
      return { op: 'advance', event, fence, forks, ...(next && { next }), ...(join && { join }) }
    }
    case 'release':
      return { op: 'release', event, fence }
    default:
      return ending satisfies never
  }
}

/** Work that threw has failed, with what the error says. */
function failureOf(error: unknown): WorkResult {
  const text = error instanceof Error ? error.message || error.name : String(error)
  return { op: 'fail', msg: messageText(text) }
}

/** A `msg` of whatever a program says: fit for a document, at most 4 KiB. */
export function messageText(text: string): string {
  return cleanProgramText(text.slice(0, 2 * TEXT_LIMITS.msg), TEXT_LIMITS.msg)
}

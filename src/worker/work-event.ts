import type { EventStore } from '../store/store.ts'
import { text } from '../stream/values.ts'
import { machineTiming } from '../util/clock.ts'
import { attemptKey } from './attempt-key.ts'
import { limitWarning } from './cadence.ts'
import { type Claim, claimEvent } from './claim.ts'
import { COMPLETE, failureOf, messageText, RELEASE } from './endings.ts'
import { Heartbeat } from './heartbeat.ts'
import type { Ending, Job, LostClaim, StopReason } from './job.ts'
import { report } from './report.ts'
import type { Work } from './types.ts'
import type { EventWorkOptions, WorkTarget } from './work-options.ts'
import type { WorkOutcome } from './work-outcome.ts'

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
  store: EventStore,
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
async function worked(work: Work, job: Job): Promise<Ending> {
  if (job.signal.aborted) return RELEASE
  try {
    return (await work(job)) ?? COMPLETE
  } catch (error) {
    return job.signal.aborted ? RELEASE : failureOf(error)
  }
}

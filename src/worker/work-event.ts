import { randomUUID } from 'node:crypto'
import { readStream } from '../ops/read-stream.ts'
import { unansweredDelay } from '../store/backoff.ts'
import { StoreClosed, StoreUnreachable } from '../store/errors.ts'
import type { StreamStore } from '../store/store.ts'
import type { EventData } from '../stream/data.ts'
import { InvalidValue } from '../stream/errors.ts'
import type { ChangeResult, Operation } from '../stream/operations/operation.ts'
import { DEFAULT_ATTEMPTS, DEFAULT_BACKOFF } from '../stream/retry-policy.ts'
import { cleanProgramText, TEXT_LIMITS } from '../stream/text.ts'
import { attemptDeadline, attemptTimeoutMs } from '../stream/time/deadlines.ts'
import { formatDuration } from '../stream/time/durations.ts'
import { text } from '../stream/values.ts'
import { elapsedMs, machineTiming, type Timing } from '../util/clock.ts'
import { NO_LONGER } from '../util/concurrency.ts'
import { defined } from '../util/defined.ts'
import { attemptKey, type Claim, type ClaimOutcome, changeUnderClaim, claimEvent } from './claim.ts'
import { Heartbeat, limitWarning } from './heartbeat.ts'
import { dataOfJob, type ProducedResult, withResult } from './job-data.ts'
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
 * Works on one event: claims it, runs `work` while sending heartbeats, and reports the result. The signal of the job asks the
 * work to stop. After the claim is lost nothing is reported, whatever the work returns. Work stopped by `options.signal` may
 * still end the event or release it; an error then releases it.
 *
 * @returns `reported`, `not-claimed`, `lost` or `unreported`; see `WorkOutcome`
 * @throws the signal's reason, if it was aborted before the call; the store's faults during the claim, with nothing done; the
 * faults except `StoreUnreachable` that prevent the report until the claim is lost
 */
export async function workEvent(
  store: StreamStore,
  target: WorkTarget,
  options: EventWorkOptions,
  work: Work,
  { claiming, claimUntil = options.signal, reporting = () => {} }: WorkSteps = {},
): Promise<WorkOutcome> {
  if (claiming === undefined) options.signal?.throwIfAborted()
  const { timing = machineTiming } = options
  const outcome = await (claiming ??
    claimEvent(store, target, { ...options, ...defined({ signal: claimUntil }) }, timing))
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
  const produced: ProducedResult = { data: undefined }
  const job = {
    ...jobOf(claim, options, heartbeat, { signal: stop.signal, nowMs: store.nowMs() }),
    ...dataOfJob(store, claim, produced, stop.signal),
  }
  const stopped = () => stop.abort({ kind: 'stopped', reason: options.signal?.reason } satisfies StopReason)
  options.signal?.addEventListener('abort', stopped)
  if (options.signal?.aborted) stopped()
  const beating = heartbeat.run()
  const limit = limitAttempt(store, claim, timing, stop)
  try {
    const ending = limit.endingOf(withResult(await runWork(work, job), produced))
    if (lost !== undefined) return { kind: 'lost', job, lost }
    return { ...(await report(store, claim, ending, options, { timing, gone: gone.signal, reporting })), job }
  } finally {
    limit.over()
    options.signal?.removeEventListener('abort', stopped)
    heartbeat.stop()
    await beating
  }
}

/** For a loop that claims the next event together with the end of one. */
export interface WorkSteps {
  /** The claim, if it is under way already. */
  readonly claiming?: Promise<ClaimOutcome>
  /** Ends the wait of the claim for a lease held by another. Default: the signal of the work. */
  readonly claimUntil?: AbortSignal
  /** Called once the result waits to be written: a claim requested by this call shares the write. */
  readonly reporting?: () => void
}

/** How often an attempt whose time is over looks whether its stream is still suspended, ms. */
const LOOK_MS = 10_000

/**
 * Stops work that runs longer than the attempt timeout of its event. Heartbeats do not renew that time; it stands still while the
 * stream is suspended.
 */
function limitAttempt(store: StreamStore, claim: Claim, timing: Timing, stop: AbortController) {
  const ms = attemptTimeoutMs(claim.state)
  const over = new AbortController()
  let isExpired = false
  const expire = async () => {
    if (ms === undefined) return
    const isOver = () => over.signal.aborted || stop.signal.aborted
    let leftMs = ms - elapsedMs(claim.sentAt, timing)
    while (leftMs > 0) {
      await timing.pause(leftMs, over.signal)
      if (isOver()) return
      const pause = await pauseOf(store, claim)
      if (isOver()) return
      leftMs = pause === 'suspended' ? LOOK_MS : ms + pause - elapsedMs(claim.sentAt, timing)
    }
    isExpired = true
    stop.abort({ kind: 'attempt-timeout', ms } satisfies StopReason)
  }
  void expire()
  return {
    /** The result of work that may have been stopped: without one of its own the attempt has failed, and another follows. */
    endingOf(ending: WorkResult): WorkResult {
      if (!isExpired || ms === undefined || ending.op !== 'release') return ending
      const msg = `the attempt ran longer than its attempt timeout of ${formatDuration(ms)}`
      return { op: 'fail', transient: true, msg }
    },
    over: () => over.abort(NO_LONGER),
  }
}

/** How long the stream of an attempt has been suspended meanwhile, ms, or that it is now. 0 if it cannot be read. */
async function pauseOf(store: StreamStore, { stream, event }: Claim): Promise<number | 'suspended'> {
  const view = await readStream(store, stream).catch(() => undefined)
  const found = view?.stream.find(event)
  if (view === undefined || found === undefined) return 0
  if (view.stream.suspended) return 'suspended'
  const { dueMs, from } = attemptDeadline(view.stream, found, view.time) ?? {}
  return dueMs === undefined || from === undefined ? 0 : dueMs - from.ms - from.timeoutMs
}

function jobOf(
  claim: Claim,
  { owner }: EventWorkOptions,
  heartbeat: Heartbeat,
  { signal, nowMs }: { readonly signal: AbortSignal; readonly nowMs: number },
): Omit<Job, keyof ReturnType<typeof dataOfJob>> {
  const { stream, state: event, fence, attempt, born, silenceMs } = claim

  return {
    stream,
    event,
    owner,
    fence,
    born,
    attempt,
    attemptKey: attemptKey(born, event.id, attempt),
    ...defined({ limitWarning: limitWarning(event, silenceMs, nowMs) }),
    signal,
    progress: async msg => heartbeat.beat(messageText(text(msg, 'msg'))),
  }
}

/**
 * Work that was stopped before it began, or throws after it was stopped, releases its event, and so does work that returns nothing
 * after its attempt timeout: only a result of its own shows that it came to an end.
 */
async function runWork(work: Work, job: Job): Promise<WorkResult> {
  if (job.signal.aborted) return RELEASE
  try {
    return (await work(job)) ?? (isOutOfTime(job.signal) ? RELEASE : COMPLETE)
  } catch (error) {
    return job.signal.aborted ? RELEASE : failureOf(error)
  }
}

/** Whether the attempt timeout has stopped the work. */
export function isOutOfTime({ aborted, reason }: AbortSignal): boolean {
  return aborted && (reason as StopReason).kind === 'attempt-timeout'
}

/** Refusals for which the claim is intact, but the event can never end with this result. */
const IMPOSSIBLE: readonly string[] = [
  'stream-full',
  'unlinkable-id',
  'open-successors',
  'already-advanced',
  'bad-gate',
  'bad-undo',
]

type Reported = Extract<WorkOutcome, { readonly kind: 'reported' | 'unreported' }>
type WithoutJob<Outcome> = Outcome extends unknown ? Omit<Outcome, 'job'> : never

/**
 * Writes the result of the work, under its fencing token and one command id. Without an answer, or while another holds the
 * lease, it retries until the claim is lost, and once more after that: the fencing token makes this safe, and an earlier
 * attempt may have been applied. An impossible result (no room for successors, an invalid text) fails the event instead,
 * because repeating the work would give the same result.
 *
 * @param gone aborts when the claim is lost
 * @throws the store's faults (no rights, full, damaged), if they last until the claim is lost
 */
async function report(
  store: StreamStore,
  claim: Claim,
  ending: WorkResult,
  options: EventWorkOptions,
  { timing, gone, reporting }: { readonly timing: Timing; readonly gone: AbortSignal; readonly reporting?: () => void },
): Promise<WithoutJob<Reported>> {
  const operation = operationOf(ending, claim, options)
  const how = { ...options, commandId: randomUUID() }
  for (let attempt = 0; ; attempt++) {
    const isLast = gone.aborted
    const change = attempted(changeUnderClaim(store, claim, operation, how), how.commandId, isLast)
    if (attempt === 0) reporting?.()
    const undone = await change
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

/** The command id is unique to this call, so a duplicate is an earlier attempt that was applied but not answered. */
function asOurs(result: ChangeResult): ChangeResult {
  return result.duplicate ? { ...result, outcome: 'done', duplicate: false } : result
}

type Change = ReturnType<typeof changeUnderClaim>
type Attempt = Awaited<Change> | { readonly kind: 'impossible'; readonly cause: InvalidValue }

/** The reason why the event can never end with this result. */
function whyNever(attempt: Attempt): string | undefined {
  if (attempt.kind === 'impossible') return attempt.cause.message
  return attempt.kind === 'refused' && IMPOSSIBLE.includes(attempt.refusal.code) ? attempt.refusal.message : undefined
}

async function attempted(change: Change, commandId: string, isLast: boolean): Promise<Attempt> {
  try {
    return await change
  } catch (cause) {
    if (cause instanceof InvalidValue) return { kind: 'impossible', cause }
    if (cause instanceof StoreClosed || (isLast && !(cause instanceof StoreUnreachable))) throw cause
    return { kind: 'unknown', commandId, cause }
  }
}

const COMPLETE: WorkResult = { op: 'complete' }
export const RELEASE: WorkResult = { op: 'release' }

/** The operation for a result. */
function operationOf(ending: WorkResult, { event, fence }: Claim, options: EventWorkOptions): Operation {
  switch (ending.op) {
    case 'complete':
      return { op: 'complete', event, fence, ...msgOf(ending), ...resultIn(ending) }
    case 'fail':
      return { op: 'fail', event, fence, ...msgOf(ending), ...againOf(ending, options), ...resultIn(ending) }
    case 'advance': {
      const { next, join, steps, forks = [] } = ending
      return { op: 'advance', event, fence, forks, ...defined({ next, join, steps }), ...resultIn(ending) }
    }
    case 'release':
      return { op: 'release', event, fence }
    default:
      return ending satisfies never
  }
}

function resultIn({ result }: { readonly result?: EventData }) {
  return result === undefined ? {} : { result }
}

function msgOf({ msg }: { readonly msg?: string }): { readonly msg?: string } {
  return msg === undefined ? {} : { msg: messageText(msg) }
}

/** How often a transient failure is repeated if its event does not say. */
function againOf(
  { transient, retry }: Extract<WorkResult, { op: 'fail' }>,
  { maxAttempts = DEFAULT_ATTEMPTS, backoff = DEFAULT_BACKOFF }: EventWorkOptions,
) {
  return transient === true ? { transient, retry: retry ?? `${maxAttempts} ${backoff}` } : {}
}

/** Whether a reported failure was transient, and the event is tried again. */
export function isAgain({ changed }: Pick<ChangeResult, 'changed'>): boolean {
  return changed.some(({ how }) => how === 'again')
}

/** The failure for an error of the work. */
function failureOf(error: unknown): WorkResult {
  const text = error instanceof Error ? error.message || error.name : String(error)
  return { op: 'fail', msg: messageText(text) }
}

/** A `msg` from any text of a program: valid in a document, at most 4 KiB. */
export function messageText(text: string): string {
  return cleanProgramText(text.slice(0, 2 * TEXT_LIMITS.msg), TEXT_LIMITS.msg)
}

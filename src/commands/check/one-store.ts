import { setImmediate as otherWork } from 'node:timers/promises'
import { CommandFailed, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { requireFile } from '../../cli/store.ts'
import { WaitLimit } from '../../cli/wait-limit.ts'
import { type CheckLimits, type CheckResult, judge } from '../../ops/check/check.ts'
import { type ScanRule, StoreScanner } from '../../ops/check/scan.ts'
import { watchedBy } from '../../ops/check/watchdogs.ts'
import type { StreamFilter } from '../../ops/filter.ts'
import { globOf } from '../../ops/glob.ts'
import { summaries } from '../../ops/summaries.ts'
import { readWatchdogState } from '../../ops/watchdog-state/parse.ts'
import type { StreamStore } from '../../store/store.ts'
import { formatDuration } from '../../stream/time/durations.ts'
import { inboxesSeen } from '../inbox/views.ts'
import { subscriptionsSeen } from '../subscription/views.ts'
import type { CheckOptions } from './options.ts'

const WITHIN_MS = 30_000
const OVERDUE_FOR_MS = 60_000
const STUCK_AFTER_MS = 10 * 60_000
/** Long enough that a failure of the night still shows in the morning. */
const FAILED_SINCE_MS = 24 * 3_600_000

/** The store of a check. */
interface CheckedStore {
  readonly open: () => Promise<StreamStore>
  /** Called with the number of streams seen so far. */
  readonly onCount?: (streams: number) => Promise<void>
}

/** Checks one store within the time limit. @throws CommandFailed with `timed-out` */
export function checkOne(
  options: CheckOptions,
  limits: CheckLimits,
  runtime: Runtime,
  { open, onCount }: CheckedStore,
): Promise<{ readonly result: CheckResult; readonly address: string }> {
  return withTimeLimit(options.within ?? WITHIN_MS, runtime, async signal => {
    const store = await open()
    requireFile(store.address)
    const scanner = new StoreScanner(await scanRule(store, options, limits, runtime, signal))
    for await (const page of summaries(store, namesOf(options), { signal })) {
      scanner.add(page, store.nowMs())
      await onCount?.(scanner.streams)
      // An embedded store answers synchronously: yield to let the time limit and signals through.
      await otherWork()
      signal.throwIfAborted()
    }
    const state = await readWatchdogState(store, signal)
    const isWhole = options.match === undefined
    const subscriptions = isWhole ? await subscriptionsSeen(store, signal) : []
    const inboxes = isWhole ? await inboxesSeen(store, signal) : []
    const result = judge(scanner.result(store.nowMs()), state, limits, { subscriptions, inboxes })
    return { result, address: store.address }
  })
}

function namesOf({ match }: CheckOptions): StreamFilter {
  return match === undefined ? {} : { names: globOf(match) }
}

async function scanRule(
  store: StreamStore,
  options: CheckOptions,
  { waiting }: CheckLimits,
  { host, isRunning }: Runtime,
  signal: AbortSignal,
): Promise<ScanRule> {
  const { overdueFor = OVERDUE_FOR_MS, failedSince = FAILED_SINCE_MS, stuckAfter = STUCK_AFTER_MS } = options
  const isWatched = watchedBy((await readWatchdogState(store, signal)).watchdogs)
  return {
    ...{ host, isRunning },
    ...(isWatched === undefined ? {} : { isWatched }),
    overdueForMs: overdueFor,
    failedSinceMs: failedSince,
    waitingForMs: waiting.warnMs,
    stuckAfterMs: stuckAfter,
  }
}

/**
 * Runs `work` under a time limit. Work that ignores the signal, such as signing in, is abandoned, as the process ends
 * soon.
 *
 * @throws CommandFailed with `timed-out`; the signal's reason; what `work` throws
 */
async function withTimeLimit<Result>(
  ms: number,
  runtime: Runtime,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const deadline = new WaitLimit(ms)
  deadline.cutPolls()
  const signal = AbortSignal.any([runtime.signal, deadline.signal])
  try {
    return await Promise.race([work(signal), rejectOnAbort(signal)])
  } catch (cause) {
    if (!deadline.passed || runtime.signal.aborted) throw cause
    throw new CommandFailed(problem('timed-out', `no answer within ${formatDuration(ms)} (--within)`, { cause }))
  } finally {
    deadline.clear()
  }
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(signal.reason)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}

import { setImmediate as otherWork } from 'node:timers/promises'
import { showCount } from '../../cli/counter.ts'
import { type Output, openOutput } from '../../cli/output.ts'
import { CommandFailed, EndsWith, problem } from '../../cli/problem.ts'
import { openProgressLine } from '../../cli/progress-line.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { openStoreFor, requireFile } from '../../cli/store.ts'
import { type CheckContext, checkJson, EXITS } from '../../formats/check/json.ts'
import { nagiosLines } from '../../formats/check/nagios.ts'
import { checkMetrics } from '../../formats/check/prometheus.ts'
import { jsonDocument } from '../../formats/json.ts'
import { type CheckLimits, type CheckResult, judge } from '../../ops/check/check.ts'
import { type StoreScan, StoreScanner } from '../../ops/check/scan.ts'
import { watchedBy } from '../../ops/check/watchdogs.ts'
import { globOf } from '../../ops/glob.ts'
import { summaries } from '../../ops/summaries.ts'
import { readWatchdogState } from '../../ops/watchdog-state/parse.ts'
import type { StreamStore } from '../../store/store.ts'
import { formatDuration } from '../../stream/time/durations.ts'
import { WaitLimit } from '../wait/run.ts'
import { type CheckOptions, limitsOf } from './options.ts'

const WITHIN_MS = 30_000
const OVERDUE_FOR_MS = 60_000
const STUCK_AFTER_MS = 10 * 60_000
/** Long enough that a failure of the night still shows in the morning. */
const FAILED_SINCE_MS = 24 * 3_600_000

/** Checks all streams once, for monitoring. Always throws, as the exit code carries the result. */
export async function checkStore(options: CheckOptions, runtime: Runtime): Promise<never> {
  const limits = limitsOf(options)
  const output = await openOutput(options, runtime)
  const startMs = runtime.nowMs()
  const { result, address } = await withTimeLimit(options.within ?? WITHIN_MS, runtime, async signal => {
    const store = await openStoreFor(options, runtime, output)
    const scan = await scanStore(store, options, limits, runtime, signal)
    return { result: judge(scan, await readWatchdogState(store, signal), limits), address: store.address }
  })
  const context = { store: address, match: options.match, atMs: startMs, tookMs: runtime.nowMs() - startMs }
  await print(options.output, result, context, output)
  throw new EndsWith(EXITS[result.status])
}

async function scanStore(
  store: StreamStore,
  options: CheckOptions,
  { waiting }: CheckLimits,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<StoreScan> {
  const { match, overdueFor = OVERDUE_FOR_MS, failedSince = FAILED_SINCE_MS, stuckAfter = STUCK_AFTER_MS } = options
  requireFile(store.address)
  const { host, isRunning } = runtime
  const isWatched = watchedBy((await readWatchdogState(store, signal)).watchdogs)
  const watched = isWatched === undefined ? {} : { isWatched }
  const scanner = new StoreScanner({
    ...{ host, isRunning, ...watched },
    overdueForMs: overdueFor,
    failedSinceMs: failedSince,
    waitingForMs: waiting.warnMs,
    stuckAfterMs: stuckAfter,
  })
  const progress = openProgressLine(options, runtime)
  const startMs = runtime.nowMs()
  try {
    for await (const page of summaries(store, match === undefined ? {} : { names: globOf(match) }, { signal })) {
      scanner.add(page, store.nowMs())
      await showCount(scanner.streams, startMs, progress, runtime)
      // An embedded store answers synchronously: yield to let the time limit and signals through.
      await otherWork()
      signal.throwIfAborted()
    }
  } finally {
    await progress.clear()
  }
  return scanner.result(store.nowMs())
}

function print(format: string | undefined, result: CheckResult, context: CheckContext, output: Output): Promise<void> {
  switch (format) {
    case 'json':
      return output.text(jsonDocument(checkJson(result, context)))
    case 'prometheus':
      return output.text(checkMetrics(result, context))
    default:
      return output.lines(nagiosLines(result))
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

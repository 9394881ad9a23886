import { errorProblem } from '../../cli/error-problem.ts'
import type { Problem } from '../../cli/problem.ts'
import type { StreamStore } from '../../store/store.ts'
import { runBatch, sleepUntilAborted } from '../../util/concurrency.ts'
import { firstPin, isProblem, pinAfter, type Result, type Target, targetCommandId } from './action.ts'
import { openAudit } from './audit.ts'
import { FaultStreak } from './fault-streak.ts'
import type { SignedOptions } from './options.ts'
import type { BatchJob, BatchPlan } from './plan.ts'
import type { EndedBatch } from './report.ts'
import { type BatchContext, wordOf } from './result.ts'
import { openRunFile } from './run-file/write.ts'

export interface BatchRun {
  readonly store: StreamStore
  readonly commandId: string
  /** The selection can have several targets: each change gets its own command id, and there is a run file. */
  readonly isBatch: boolean
  /** The run file whose rest this is. */
  readonly rerunOf?: string | undefined
}

/** Callbacks of a running batch. */
export interface BatchListener {
  /** Changes start now. The run file of a batch records the outcome of each target. */
  onStart?(runFile: string | undefined): void
  onResult?(result: Result): void
  /** The run file or the audit log cannot be written; the batch continues. */
  onFault?(message: string): void
}

/**
 * Executes a plan. A batch starts only with a run file, so that it can be resumed. Returns a problem if nothing was
 * started.
 */
export async function executePlan(
  plan: BatchPlan,
  how: BatchRun,
  context: BatchContext,
  listener: BatchListener,
): Promise<EndedBatch | Problem> {
  const { commandId, isBatch, store, rerunOf } = how
  const { action, options, runtime } = context
  const header = { verb: action.name, store: store.address, commandId, options, rerunOf }
  const runFile =
    isBatch && plan.targets.length > 0
      ? await openRunFile(header, plan, runtime, message => listener.onFault?.(message))
      : undefined
  if (runFile !== undefined && 'exit' in runFile) return runFile
  const onFault = (message: string) => listener.onFault?.(message)
  const audit = action.audit && openAudit(action.audit, { ...auditedOf(plan, how, options), store }, runtime, onFault)
  const refused = plan.jobs.length === 0 ? undefined : await audit?.begin()
  if (refused !== undefined) {
    await runFile?.close()
    return refused
  }
  listener.onStart?.(runFile?.path)
  const results = new Map<Target, Result>()
  const onResult = (result: Result) => {
    results.set(result.target, result)
    runFile?.add(result)
    listener.onResult?.(result)
  }
  for (const { target, outcome } of plan.settled) {
    onResult({ target, commandId: targetCommandId(commandId, target, isBatch), outcome })
  }
  await changeTargets(plan.jobs, how, context, onResult)
  await runFile?.close()
  if (plan.jobs.length > 0) await audit?.end([...results.values()].map(wordOf))
  return { plan, results: plan.targets.flatMap(target => results.get(target) ?? []), runFile: runFile?.path }
}

function auditedOf(plan: BatchPlan, { commandId }: BatchRun, { by, reason }: SignedOptions) {
  const names = plan.jobs.flatMap(({ targets: [first] }) => (first === undefined ? [] : [first.stream]))
  return { by, why: reason, commandId, streams: names.length, names }
}

const DEFAULT_CONCURRENCY = 8
/** The embedded store writes concurrent changes in one transaction. */
const EMBEDDED_CONCURRENCY = 32

/** Changes the targets of a plan; events of the same stream in sequence. */
async function changeTargets(
  jobs: readonly BatchJob[],
  { store, commandId: batchId, isBatch }: BatchRun,
  { action, options, runtime }: BatchContext,
  onResult: (result: Result) => void,
): Promise<void> {
  const usual = store.address.startsWith('sqlite:') ? EMBEDDED_CONCURRENCY : DEFAULT_CONCURRENCY
  const how = { concurrency: options.concurrency ?? usual, signal: runtime.signal }
  const pace = paceOf(options.rate)
  await runJobs(jobs, how, async ({ targets, pin: previewed, ...job }, stop) => {
    await pace(stop.signal)
    let pin = firstPin(previewed, options.ifVersion)
    for (const target of targets) {
      if (stop.signal.aborted) return
      const commandId = targetCommandId(batchId, target, isBatch)
      const change = { ...job, target, commandId, pin, store, options, runtime }
      const outcome = await action
        .change(change)
        .catch((error: unknown) => ({ ...errorProblem(error, runtime), stream: target.stream }))
      pin = pinAfter(pin, outcome)
      stop.count(isProblem(outcome) ? outcome : undefined)
      onResult({ target, commandId, outcome })
    }
  })
}

/** Waits for the turn of the next job, so that at most `rate` begin in a second; ends early when the signal aborts. */
function paceOf(rate: number | undefined): (signal: AbortSignal) => Promise<void> {
  if (rate === undefined) return async () => {}
  let nextMs = performance.now()
  return signal => {
    const nowMs = performance.now()
    const turnMs = Math.max(nowMs, nextMs)
    nextMs = turnMs + 1_000 / rate
    return sleepUntilAborted(turnMs - nowMs, signal)
  }
}

/** Stops a run of jobs early. */
interface Stop {
  readonly signal: AbortSignal
  /** Counts an outcome: after too many faults of the store in a row no more jobs start. */
  count(problem: Problem | undefined): void
}

/** Runs jobs concurrently until the signal aborts or the store as a whole fails. Returns the number of started jobs. */
function runJobs<Item>(
  jobs: readonly Item[],
  { concurrency, signal }: { readonly concurrency: number; readonly signal: AbortSignal },
  work: (job: Item, stop: Stop) => Promise<void>,
): Promise<number> {
  // Not `AbortSignal.any`, which checks its sources on every access.
  const stop = new AbortController()
  if (signal.aborted) stop.abort()
  else signal.addEventListener('abort', () => stop.abort(), { once: true })
  const faults = new FaultStreak()
  const count = (problem: Problem | undefined) => {
    if (faults.isTooLong(problem)) stop.abort()
  }
  return runBatch(jobs, { concurrency, stop: stop.signal }, job => work(job, { signal: stop.signal, count }))
}

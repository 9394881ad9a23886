import { errorProblem, interruptedProblem } from '../../cli/error-problem.ts'
import type { Output } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import type { StreamStore } from '../../store/store.ts'
import { runBatch } from '../../util/concurrency.ts'
import { visibleText } from '../../util/visible-text.ts'
import { firstPin, pinAfter, type Target, targetCommandId } from './action.ts'
import { FaultStreak } from './fault-streak.ts'
import type { BatchJob, BatchPlan } from './plan.ts'
import { type EndedBatch, endProblem, openReport, printSingle, type Report, tellEnd } from './report.ts'
import { type BatchContext, isProblem, type Result } from './result.ts'
import { openRunFile } from './run-file.ts'

interface ExecuteOptions {
  readonly store: StreamStore
  readonly commandId: string
  /** More than one target was asked for, or may have been: each change has an id of its own, and there is a run file. */
  readonly isBatch: boolean
  /** The run file whose rest this is. */
  readonly rerunOf?: string | undefined
}

/** Who hears of a batch while it runs. */
export interface BatchListener {
  /** From now on things are changed; of a batch `runFile` keeps what becomes of each target. */
  began?(runFile: string | undefined): void
  onResult?(result: Result): void
  /** The run file can no longer be written. The batch goes on. */
  onFault?(message: string): void
}

/**
 * Executes a plan; a batch leaves a run file, and nothing is begun without one: what could not be taken up again is not
 * started. A problem is what kept all of it from being begun.
 */
export async function executePlan(
  plan: BatchPlan,
  how: ExecuteOptions,
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
  listener.began?.(runFile?.path)
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
  return { plan, results: plan.targets.flatMap(target => results.get(target) ?? []), runFile: runFile?.path }
}

const DEFAULT_CONCURRENCY = 8
/** The embedded store writes what is asked for together in one transaction. */
const EMBEDDED_CONCURRENCY = 32

/** Changes the targets of a plan; the events of one stream one after the other. */
async function changeTargets(
  jobs: readonly BatchJob[],
  { store, commandId: batchId, isBatch }: ExecuteOptions,
  { action, options, runtime }: BatchContext,
  onResult: (result: Result) => void,
): Promise<void> {
  const usual = store.address.startsWith('sqlite:') ? EMBEDDED_CONCURRENCY : DEFAULT_CONCURRENCY
  const how = { concurrency: options.concurrency ?? usual, signal: runtime.signal }
  await runJobs(jobs, how, async ({ targets, pin: previewed, ...job }, stop) => {
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

/** Ends a run of jobs early. */
interface Stop {
  readonly signal: AbortSignal
  /** Counts an outcome: after too many faults of the store in a row nothing more is begun. */
  count(problem: Problem | undefined): void
}

/** Does jobs some at a time, until the signal aborts or the store as a whole fails. Returns how many were begun. */
export function runJobs<Item>(
  jobs: readonly Item[],
  { concurrency, signal }: { readonly concurrency: number; readonly signal: AbortSignal },
  work: (job: Item, stop: Stop) => Promise<void>,
): Promise<number> {
  // Not `AbortSignal.any`: that one looks at its sources whenever it is asked.
  const stop = new AbortController()
  if (signal.aborted) stop.abort()
  else signal.addEventListener('abort', () => stop.abort(), { once: true })
  const faults = new FaultStreak()
  const count = (problem: Problem | undefined) => {
    if (faults.isTooLong(problem)) stop.abort()
  }
  return runBatch(jobs, { concurrency, stop: stop.signal }, job => work(job, { signal: stop.signal, count }))
}

/** Executes a plan that was shown, and prints what became of each target. */
export async function runPlan(
  plan: BatchPlan,
  given: Omit<ExecuteOptions, 'commandId'>,
  context: BatchContext,
  output: Output,
): Promise<Problem | undefined> {
  const { options, runtime } = context
  const how = { ...given, commandId: options.commandId ?? runtime.newId() }
  if (how.isBatch) return runMany(plan, how, context, output)
  // One target that was named, and for once asked about.
  const ended = await executePlan(plan, how, context, {})
  if ('exit' in ended) return ended
  const [result] = ended.results
  return result === undefined ? interruptedProblem(runtime.signal) : printSingle(result, context, output)
}

async function runMany(
  plan: BatchPlan,
  how: ExecuteOptions,
  context: BatchContext,
  output: Output,
): Promise<Problem | undefined> {
  const { signal } = context.runtime
  let report: Report | undefined
  let nameIt = () => {}
  const ended = await executePlan(plan, how, context, {
    began(path) {
      // A second Ctrl-C ends the process at once: whoever gives it has to know by then how to go on.
      if (path !== undefined) nameIt = () => void output.say(`run file ${visibleText(path)}; --rerun does the rest`)
      signal.addEventListener('abort', nameIt, { once: true })
      report = openReport(plan.targets, context, output)
    },
    onResult: result => report?.add(result),
    onFault: message => void output.say(visibleText(message)),
  })
  signal.removeEventListener('abort', nameIt)
  await report?.end()
  if ('exit' in ended) return ended
  await tellEnd(ended, report?.counts ?? new Map(), context, output)
  return endProblem(ended, context)
}

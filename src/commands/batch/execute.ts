import { errorProblem, interruptedProblem } from '../../cli/error-problem.ts'
import type { Output } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import type { EventStore } from '../../store/store.ts'
import { runBatch } from '../../util/concurrency.ts'
import { visibleText } from '../../util/visible-text.ts'
import {
  type Change,
  type Done,
  firstPin,
  pinAfter,
  type Target,
  type TargetChange,
  targetCommandId,
} from './action.ts'
import type { Job, Plan } from './plan.ts'
import { type EndedBatch, endProblem, openReport, printSingle, type Report, tellEnd } from './report.ts'
import { type BatchContext, isProblem, type Result } from './result.ts'
import { openRunFile, type RunFile } from './run-file.ts'

interface ExecuteOptions {
  readonly store: EventStore
  readonly commandId: string
  /** More than one target was asked for, or may have been. */
  readonly isBatch: boolean
  /** The run file whose rest this is. */
  readonly rerunOf: string | undefined
}

/** Who hears of it while it goes on. */
export interface BatchListener {
  /** From now on things are changed; of a batch `runFile` keeps what becomes of each target. */
  began(runFile: string | undefined): void
  onResult(result: Result): void
  /** The run file can no longer be written. The batch goes on. */
  onFault(message: string): void
}

/** Does what was planned; a batch leaves a run file. A problem is what kept all of it from being begun. */
export async function executePlan(
  plan: Plan,
  means: ExecuteOptions,
  context: BatchContext,
  listener: BatchListener,
): Promise<EndedBatch | Problem> {
  const { commandId, isBatch, store } = means
  const runFile = isBatch ? await runFileFor(plan, means, context, listener) : undefined
  if (runFile !== undefined && 'exit' in runFile) return runFile
  listener.began(runFile?.path)
  const results = new Map<Target, Result>()
  const onResult = (result: Result) => {
    results.set(result.target, result)
    runFile?.add(result)
    listener.onResult(result)
  }
  for (const { target, outcome } of plan.settled) {
    onResult({ target, commandId: targetCommandId(commandId, target, isBatch), outcome })
  }
  await runJobs(plan.jobs, context, { store, commandId, isBatch, onResult })
  await runFile?.close()
  return { plan, results: plan.targets.flatMap(target => results.get(target) ?? []), runFile: runFile?.path }
}

/** Nothing is begun without one: what could not be taken up again is not started. */
async function runFileFor(
  plan: Plan,
  { store, commandId, rerunOf }: ExecuteOptions,
  { action, options, runtime }: BatchContext,
  { onFault }: BatchListener,
): Promise<RunFile | Problem | undefined> {
  if (plan.targets.length === 0) return undefined
  return openRunFile({ verb: action.name, store: store.address, commandId, options, rerunOf }, plan, runtime, onFault)
}

export interface Performance {
  readonly store: EventStore
  readonly commandId: string
  /** Each change has an id of its own. */
  readonly isBatch: boolean
  readonly onResult: (result: Result) => void
}

const USUALLY_AT_ONCE = 8
/** The embedded store writes what is asked for together in one transaction. */
const AT_ONCE_EMBEDDED = 32
/** After so many in a row that the store as a whole refused, nothing more is begun. */
const MOST_FAULTS = 8

/** Changes the streams of a plan, some at a time; the events of one stream one after the other. */
async function runJobs(
  jobs: readonly Job[],
  { action, options, runtime }: BatchContext,
  how: Performance,
): Promise<void> {
  const stop = stopWith(runtime.signal)
  const isEmbedded = how.store.address.startsWith('sqlite:')
  const concurrency = options.concurrency ?? (isEmbedded ? AT_ONCE_EMBEDDED : USUALLY_AT_ONCE)
  let faults = 0
  await runBatch(jobs, { concurrency, stop: stop.signal }, async ({ targets, pin: previewed, ...job }) => {
    let pin = firstPin(previewed, options.ifVersion)
    for (const target of targets) {
      if (stop.signal.aborted) return
      const commandId = targetCommandId(how.commandId, target, how.isBatch)
      const change = { ...job, target, commandId, pin, store: how.store, options, runtime }
      const outcome = await outcomeOf(action.change, change)
      pin = pinAfter(pin, outcome)
      faults = isProblem(outcome) && STORE_FAULTS.has(outcome.code) ? faults + 1 : 0
      if (faults >= MOST_FAULTS) stop.abort()
      how.onResult({ target, commandId, outcome })
    }
  })
}

/** Not `AbortSignal.any`: that one looks at its sources whenever it is asked. */
function stopWith(signal: AbortSignal): AbortController {
  const stop = new AbortController()
  if (signal.aborted) stop.abort()
  else signal.addEventListener('abort', () => stop.abort(), { once: true })
  return stop
}

/** They say nothing of the one stream: the next one would meet them too. */
const STORE_FAULTS: ReadonlySet<string> = new Set([
  'store-unreachable',
  'store-full',
  'store-damaged',
  'store-incompatible',
  'not-permitted',
  'container-missing',
])

async function outcomeOf(
  change: (what: TargetChange) => Promise<Done | Problem>,
  what: TargetChange,
): Promise<Done | Problem> {
  try {
    return await change(what)
  } catch (error) {
    return { ...errorProblem(error, what.runtime), stream: what.target.stream }
  }
}

/** Does what was planned and shown, and tells what became of each target. */
export async function runPlan(
  plan: Plan,
  given: Omit<ExecuteOptions, 'commandId'>,
  context: BatchContext,
  output: Output,
): Promise<Problem | undefined> {
  const means = { ...given, commandId: context.options.commandId ?? context.runtime.newId() }
  return means.isBatch ? runMany(plan, means, context, output) : runOne(plan, means, context, output)
}

async function runMany(
  plan: Plan,
  means: ExecuteOptions,
  context: BatchContext,
  output: Output,
): Promise<Problem | undefined> {
  const { signal } = context.runtime
  let report: Report | undefined
  let nameIt = () => {}
  const ended = await executePlan(plan, means, context, {
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

/** One target that was named, and for once asked about. */
async function runOne(
  plan: Plan,
  means: ExecuteOptions,
  context: BatchContext,
  output: Output,
): Promise<Problem | undefined> {
  const ended = await executePlan(plan, means, context, { began() {}, onResult() {}, onFault() {} })
  if ('exit' in ended) return ended
  const [result] = ended.results
  return result === undefined ? interruptedProblem(context.runtime.signal) : printSingle(result, context, output)
}

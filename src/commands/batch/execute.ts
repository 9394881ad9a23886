import { errorProblem, interruptedProblem } from '../../cli/error-problem.ts'
import type { Output } from '../../cli/output.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import { counted, countText } from '../../formats/terminal/numbers.ts'
import type { Selection } from '../../ops/selection.ts'
import type { StreamStore } from '../../store/store.ts'
import { runBatch } from '../../util/concurrency.ts'
import { visibleText } from '../../util/visible-text.ts'
import { type BatchAction, firstPin, isProblem, pinAfter, type Result, type Target, targetCommandId } from './action.ts'
import { confirm } from './confirm.ts'
import { FaultStreak } from './fault-streak.ts'
import { type BatchJob, type BatchPlan, makePlan, missingProblemOf } from './plan.ts'
import { countOf, printPreview, ROWS_SHOWN, sayPreview } from './preview.ts'
import { type EndedBatch, endProblem, openReport, printEnd, printSingle, type Report } from './report.ts'
import type { BatchContext } from './result.ts'
import type { Resume } from './resume.ts'
import { openRunFile } from './run-file.ts'

interface ExecuteOptions {
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
  /** The run file can no longer be written; the batch continues. */
  onFault?(message: string): void
}

/**
 * Executes a plan. A batch starts only with a run file, so that it can be resumed. Returns a problem if nothing was
 * started.
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
  return { plan, results: plan.targets.flatMap(target => results.get(target) ?? []), runFile: runFile?.path }
}

const DEFAULT_CONCURRENCY = 8
/** The embedded store writes concurrent changes in one transaction. */
const EMBEDDED_CONCURRENCY = 32

/** Changes the targets of a plan; events of the same stream in sequence. */
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

/** Stops a run of jobs early. */
interface Stop {
  readonly signal: AbortSignal
  /** Counts an outcome: after too many faults of the store in a row no more jobs start. */
  count(problem: Problem | undefined): void
}

/** Runs jobs concurrently until the signal aborts or the store as a whole fails. Returns the number of started jobs. */
export function runJobs<Item>(
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

/** The selection of a batch command. */
interface Selected {
  readonly selection: Selection
  /** It can have several targets. */
  readonly isBatch: boolean
  readonly resume: Resume | undefined
}

/** Plans a change, previews it and asks if required, and executes it. */
export async function runPlanned(
  { selection, isBatch, resume }: Selected,
  context: BatchContext,
  store: StreamStore,
  output: Output,
): Promise<Problem | undefined> {
  const { action, options, runtime } = context
  const events = options.event ?? []
  const request = {
    action,
    options,
    selection,
    eventsOf: events.length === 0 ? undefined : (resume?.eventsOf ?? (() => events)),
    leaveOut: selection.kind !== 'names' && resume === undefined,
    keepRows: options.dryRun ? Number.POSITIVE_INFINITY : ROWS_SHOWN,
    resume,
  }
  const plan = await makePlan(request, store, runtime.signal)
  const found = plan.targets.length + plan.leftOut > 0
  const hint = 'Nothing was changed in any stream. --skip-missing skips missing streams.'
  const fatal = options.skipMissing && found ? undefined : missingProblemOf(plan.missing, isBatch, hint)
  if (fatal !== undefined) return fatal
  for (const { message } of plan.missing) await output.say(`skipped: ${visibleText(message)}`)
  if (options.dryRun) return printPreview(plan, context, output).then(() => undefined)
  const declined = await confirmPlan(plan, selection.kind === 'names', context, output)
  return declined ?? runPlan(plan, { isBatch, store, rerunOf: options.rerun }, context, output)
}

function confirmPlan(
  plan: BatchPlan,
  isNamed: boolean,
  context: BatchContext,
  output: Output,
): Promise<Problem | undefined> {
  const { action, options, runtime } = context
  const { isProtected = false, address = '' } = runtime.opened ?? {}
  const where = isProtected ? ` in ${visibleText(address)}, a protected store` : ''
  const isText = options.output !== 'json' && options.output !== 'ndjson'
  const isTerminal = runtime.stdin.isTty && runtime.stderr.isTty
  const request = {
    streams: plan.jobs.length,
    isNamed,
    isProtected,
    asksAlways: action.asksAlways ?? false,
    flags: options,
    question: `${action.question(countOf(plan))}${where}`,
    unexpected: (expected: number) => unexpected(expected, plan, action),
    async preview(isAnswered: boolean) {
      if (isText || (isTerminal && !isAnswered)) await sayPreview(plan, context, output)
    },
  }
  return confirm(request, runtime)
}

function unexpected(expected: number, { jobs, leftOut }: BatchPlan, { leavesOut }: BatchAction): Problem {
  const found = `${countText(jobs.length)}${leftOut === 0 ? '' : ` (${countText(leftOut)} ${leavesOut?.because}, left out)`}`
  const nothingLeft = `Was it done before? All that match are ${leavesOut?.because}; ls shows them.`
  return problem('changed', `expected ${counted(expected, 'stream')}, found ${found}; nothing was changed`, {
    exit: 5,
    hint: jobs.length > 0 || leftOut === 0 ? '--dry-run shows which they are.' : nothingLeft,
  })
}

/** Executes a plan and prints the outcome of each target. */
async function runPlan(
  plan: BatchPlan,
  given: Omit<ExecuteOptions, 'commandId'>,
  context: BatchContext,
  output: Output,
): Promise<Problem | undefined> {
  const { options, runtime } = context
  const how = { ...given, commandId: options.commandId ?? runtime.newId() }
  if (how.isBatch) return runMany(plan, how, context, output)
  // a single named target, planned only because it had to be confirmed
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
  let sayRunFile = () => {}
  const ended = await executePlan(plan, how, context, {
    onStart(path) {
      // A second Ctrl-C ends the process at once, so the first one prints how to resume.
      if (path !== undefined) sayRunFile = () => void output.say(`run file ${visibleText(path)}; --rerun does the rest`)
      signal.addEventListener('abort', sayRunFile, { once: true })
      report = openReport(plan.targets, context, output)
    },
    onResult: result => report?.add(result),
    onFault: message => void output.say(visibleText(message)),
  })
  signal.removeEventListener('abort', sayRunFile)
  await report?.end()
  if ('exit' in ended) return ended
  await printEnd(ended, report?.counts ?? new Map(), context, output)
  return endProblem(ended, context)
}

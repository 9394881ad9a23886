import { placeText } from '../../cli/confirm.ts'
import { interruptedProblem } from '../../cli/error-problem.ts'
import type { Output } from '../../cli/output.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import { counted, countText } from '../../formats/terminal/numbers.ts'
import type { Selection } from '../../ops/selection.ts'
import type { StreamStore } from '../../store/store.ts'
import { visibleText } from '../../util/visible-text.ts'
import { targetCommandId } from './action.ts'
import { confirm } from './confirm.ts'
import { type BatchRun, executePlan } from './execute.ts'
import type { SignedOptions } from './options.ts'
import { type BatchPlan, makePlan, missingProblemOf, type PlanRequest } from './plan.ts'
import { countOf, nameToType, printPreview, ROWS_SHOWN, sayPreview } from './preview.ts'
import { endProblem, openReport, printEnd, printSingle, type Report } from './report.ts'
import { type BatchContext, leftOutText } from './result.ts'
import type { Resume } from './resume.ts'

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
    // A rerun reports what was done meanwhile, but a lease that is no longer stale is in use again.
    leaveOut: selection.kind !== 'names' && (resume === undefined || options.stale !== undefined),
    ...commandIds(options, isBatch),
    keepRows: options.dryRun ? Number.POSITIVE_INFINITY : ROWS_SHOWN,
    resume,
    runtime,
  }
  const plan = await makePlan(request, store, runtime.signal)
  const found = plan.targets.length + plan.leftOut > 0
  const hint = 'Nothing was changed in any stream. --skip-missing skips missing streams.'
  const fatal = options.skipMissing && found ? undefined : missingProblemOf(plan.missing, isBatch, hint)
  if (fatal !== undefined) return fatal
  for (const { message } of plan.missing) await output.say(`skipped: ${visibleText(message)}`)
  if (options.dryRun) {
    await printPreview(plan, context, output)
    const { expect = plan.jobs.length } = options
    return expect === plan.jobs.length ? undefined : unexpected(expect, plan)
  }
  const declined = await confirmPlan(plan, selection.kind === 'names', context, output)
  return declined ?? runPlan(plan, { isBatch, store, rerunOf: options.rerun }, context, output)
}

function commandIds({ commandId }: SignedOptions, isBatch: boolean): Pick<PlanRequest, 'commandIdOf'> {
  return commandId === undefined ? {} : { commandIdOf: target => targetCommandId(commandId, target, isBatch) }
}

function confirmPlan(
  plan: BatchPlan,
  isNamed: boolean,
  context: BatchContext,
  output: Output,
): Promise<Problem | undefined> {
  const { action, options, runtime } = context
  const isProtected = runtime.opened?.isProtected ?? false
  const isText = options.output !== 'json' && options.output !== 'ndjson'
  const isTerminal = runtime.stdin.canAsk && runtime.stderr.isTty
  const name = action.confirmsByName ? nameToType(plan) : undefined
  const request = {
    streams: plan.jobs.length,
    isNamed,
    isProtected,
    asksAlways: action.asksAlways ?? false,
    isTerminal,
    name,
    flags: options,
    question: action.question(`${name ?? countOf(plan)} in ${placeText(runtime.opened)}`),
    unexpected: (expected: number) => unexpected(expected, plan),
    async preview(isAnswered: boolean) {
      if (isText || (isTerminal && !isAnswered)) await sayPreview(plan, context, output)
    },
  }
  return confirm(request, runtime)
}

function unexpected(expected: number, plan: BatchPlan): Problem {
  const { jobs, leftOut, settled } = plan
  const others = [
    ...(settled.length === 0 ? [] : [`${countText(settled.length)} not tried`]),
    ...(leftOut === 0 ? [] : [leftOutText(plan)]),
  ]
  const found = `${countText(jobs.length)}${others.length === 0 ? '' : ` (${others.join('; ')})`}`
  return problem('changed', `expected ${counted(expected, 'stream')}, found ${found}; nothing was changed`, {
    exit: 5,
    hint:
      jobs.length > 0 || leftOut === 0
        ? '--dry-run shows which they are.'
        : 'Was it done before? No stream that matches is left to change.',
  })
}

/** Executes a plan and prints the outcome of each target. */
async function runPlan(
  plan: BatchPlan,
  given: Omit<BatchRun, 'commandId'>,
  context: BatchContext,
  output: Output,
): Promise<Problem | undefined> {
  const { options, runtime } = context
  const how = { ...given, commandId: options.commandId ?? runtime.newId() }
  if (how.isBatch) return runMany(plan, how, context, output)
  // a single named target, planned only because it had to be confirmed
  const ended = await executePlan(plan, how, context, { onFault: message => void output.say(visibleText(message)) })
  if ('exit' in ended) return ended
  const [result] = ended.results
  return result === undefined ? interruptedProblem(runtime.signal) : printSingle(result, context, output)
}

async function runMany(
  plan: BatchPlan,
  how: BatchRun,
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

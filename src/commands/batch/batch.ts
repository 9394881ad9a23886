import { type Output, openOutput } from '../../cli/output.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { requireSelection } from '../../cli/selection/read.ts'
import { openStoreFor } from '../../cli/store.ts'
import { counted, countText } from '../../formats/terminal/numbers.ts'
import type { Selection } from '../../ops/selection.ts'
import type { StreamStore } from '../../store/store.ts'
import { visibleText } from '../../util/visible-text.ts'
import { type BatchAction, targetsOf } from './action.ts'
import { confirm } from './confirm.ts'
import { runPlan } from './execute.ts'
import type { BatchCommandOptions } from './options.ts'
import { type BatchPlan, makePlan, missingProblemOf } from './plan.ts'
import { countOf, printPreview, ROWS_SHOWN, sayPreview } from './preview.ts'
import { printSingle } from './report.ts'
import type { BatchContext } from './result.ts'
import { resumeOf } from './resume.ts'

/**
 * Changes one or many streams, or events of them: inspects all of them, previews and asks depending on their number, then
 * makes one change in each.
 */
export async function runBatchCommand(
  action: BatchAction,
  given: BatchCommandOptions,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const output = await openOutput(given, runtime)
  const resume = await resumeOf(action, given)
  // The system is asked for the user once, not for each change.
  const options = { ...given, by: given.by ?? runtime.actor, ...resume?.given }
  const events = options.event ?? []
  const selection = resume?.selection ?? (await requireSelection(options, runtime, events))
  const context = { action, options, runtime }
  const store = await openStoreFor(options, runtime, output)
  resume?.checkStore(store.address)
  const single = singleOf(selection, events)
  if (single !== undefined && needsNoPlan(context)) return changeWithoutPlan(single, context, store, output)
  if (resume !== undefined) await output.say(resume.sentence)
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
  const isBatch = single === undefined
  const found = plan.targets.length + plan.leftOut > 0
  const hint = 'Nothing was changed in any stream. --skip-missing skips missing streams.'
  const fatal = options.skipMissing && found ? undefined : missingProblemOf(plan.missing, isBatch, hint)
  if (fatal !== undefined) return fatal
  for (const { message } of plan.missing) await output.say(`skipped: ${visibleText(message)}`)
  if (options.dryRun) return printPreview(plan, context, output).then(() => undefined)
  const declined = await confirmPlan(plan, selection.kind === 'names', context, output)
  return declined ?? runPlan(plan, { isBatch, store, rerunOf: given.rerun }, context, output)
}

/** The stream, if exactly one was named, with at most one event. */
function singleOf(selection: Selection, events: readonly string[]): string | undefined {
  const isOne = selection.kind === 'names' && selection.names.length === 1 && events.length <= 1
  return isOne ? selection.names[0] : undefined
}

/** Whether a single named stream is changed without preview and question. The change itself finds out if it exists. */
function needsNoPlan({ action, options, runtime }: BatchContext): boolean {
  if (options.dryRun || options.expect !== undefined || action.asksAlways) return false
  return runtime.opened?.isProtected !== true
}

async function changeWithoutPlan(
  stream: string,
  context: BatchContext,
  store: StreamStore,
  output: Output,
): Promise<Problem | undefined> {
  const { action, options, runtime } = context
  const [target = { stream, event: undefined }] = targetsOf(stream, options.event ?? [])
  const commandId = options.commandId ?? runtime.newId()
  const outcome = await action.change({ target, commandId, pin: {}, store, options, runtime })
  return printSingle({ target, commandId, outcome }, context, output)
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

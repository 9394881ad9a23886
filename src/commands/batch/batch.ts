import { type Output, openOutput } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { requireSelection } from '../../cli/selection/read.ts'
import { openStoreFor } from '../../cli/store.ts'
import type { Selection } from '../../ops/selection.ts'
import type { EventStore } from '../../store/store.ts'
import { visibleText } from '../../util/visible-text.ts'
import { type BatchAction, targetsOf, type Verb } from './action.ts'
import { confirm, consent } from './confirm.ts'
import { carryOut, runPlan } from './execute.ts'
import type { BatchCommandOptions, OnStreamsOptions } from './options.ts'
import { makePlan, missingProblemOf, type Plan } from './plan.ts'
import { printPreview, ROWS_SHOWN } from './preview.ts'
import { printSingle } from './report.ts'
import type { BatchContext } from './result.ts'
import { type Resume, resumeOf } from './resume.ts'

/**
 * The same on one or many streams, or on events of them: looks at all of them first, shows and asks as far as their
 * number demands, then makes one change of each.
 */
export async function runBatchCommand(
  action: BatchAction,
  given: BatchCommandOptions,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const output = await openOutput(given, runtime)
  const again = await resumeOf(action, given)
  // Whose doing it is the system is asked once, not with each change.
  const options = { ...given, by: given.by ?? runtime.actor, ...again?.given }
  const selection = again?.selection ?? (await requireSelection(options, runtime, options.event ?? []))
  const context = { action, options, runtime }
  const store = await openStoreFor(options, runtime, output)
  again?.checkStore(store.address)
  const single = singleOf(selection, options)
  if (single !== undefined && needsNoLook(context)) return changeUnseen(single, context, store, output)
  if (again !== undefined) await output.say(again.sentence)
  const plan = await planFor(selection, again, context, store)
  const isBatch = single === undefined
  const found = plan.targets.length + plan.leftOut > 0
  const fatal = options.skipMissing && found ? undefined : missingProblemOf(plan.missing, isBatch)
  if (fatal !== undefined) return fatal
  for (const { message } of plan.missing) await output.say(`skipped: ${visibleText(message)}`)
  if (options.dryRun) return printPreview(plan, context, output).then(() => undefined)
  const isNamed = selection.kind === 'names'
  const no = await confirm(plan, isNamed, context, output)
  return no ?? runPlan(plan, { isBatch, store, rerunOf: given.rerun }, context, output)
}

/** The one stream that was named, with at most one event of it. */
function singleOf(selection: Selection, { event = [] }: BatchCommandOptions): string | undefined {
  const isOne = selection.kind === 'names' && selection.names.length === 1 && event.length <= 1
  return isOne ? selection.names[0] : undefined
}

/** Nothing is shown or asked for one stream by its name: whether it is there the change itself finds out. */
function needsNoLook({ action, options, runtime }: BatchContext): boolean {
  if (options.dryRun || options.expect !== undefined || action.asksAlways) return false
  return runtime.opened?.isProtected !== true
}

async function changeUnseen(
  stream: string,
  context: BatchContext,
  store: EventStore,
  output: Output,
): Promise<Problem | undefined> {
  const { action, options, runtime } = context
  const [target = { stream, event: undefined }] = targetsOf(stream, options.event ?? [])
  const commandId = options.commandId ?? runtime.newId()
  const outcome = await action.change({ target, commandId, pin: {}, store, options, runtime })
  return printSingle({ target, commandId, outcome }, context, output)
}

function planFor(
  selection: Selection,
  again: Resume | undefined,
  context: BatchContext,
  store: EventStore,
): Promise<Plan> {
  const { action, options, runtime } = context
  const events = options.event ?? []
  const request = {
    action,
    options,
    selection,
    eventsOf: events.length === 0 ? undefined : (again?.eventsOf ?? (() => events)),
    leaveOut: selection.kind !== 'names' && again === undefined,
    keepRows: options.dryRun ? Number.POSITIVE_INFINITY : ROWS_SHOWN,
    ...(again === undefined ? {} : { objection: again.objection, bornOf: again.bornOf }),
    ...(again === undefined || action.gone === undefined ? {} : { gone: action.gone }),
  }
  return makePlan(request, store, runtime.signal)
}

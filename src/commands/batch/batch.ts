import { type Output, openOutput } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { requireSelection } from '../../cli/selection/read.ts'
import { openStoreFor } from '../../cli/store.ts'
import type { Selection } from '../../ops/selection.ts'
import type { EventStore } from '../../store/store.ts'
import { visibleText } from '../../util/visible-text.ts'
import { targetsOf, type Verb } from './action.ts'
import { consent } from './confirm.ts'
import { carryOut } from './execute.ts'
import type { OnStreamsOptions } from './options.ts'
import { makePlan, missingProblemOf, type Plan } from './plan.ts'
import { printPreview, ROWS_SHOWN } from './preview.ts'
import { printSingle } from './report.ts'
import type { Told } from './result.ts'
import { type Repeated, repeated } from './resume.ts'

/**
 * The same on one or many streams, or on events of them: looks at all of them first, shows and asks as far as their
 * number demands, then makes one change of each.
 */
export async function changeBatch(verb: Verb, given: OnStreamsOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(given, runtime)
  const again = await repeated(verb, given)
  // Whose doing it is the system is asked once, not with each change.
  const options = { ...given, by: given.by ?? runtime.actor, ...again?.given }
  const selection = again?.selection ?? (await requireSelection(options, runtime, options.event ?? []))
  const told = { verb, options, runtime }
  const store = await openStoreFor(options, runtime, output)
  again?.checkStore(store.address)
  const single = singleOf(selection, options)
  if (single !== undefined && needsNoLook(told)) return changeUnseen(single, told, store, output)
  if (again !== undefined) await output.say(again.sentence)
  const plan = await planFor(selection, again, told, store)
  const isBatch = single === undefined
  const found = plan.targets.length + plan.leftOut > 0
  const fatal = options.skipMissing && found ? undefined : missingProblemOf(plan.missing, isBatch)
  if (fatal !== undefined) return fatal
  for (const { message } of plan.missing) await output.say(`skipped: ${visibleText(message)}`)
  if (options.dryRun) return printPreview(plan, told, output).then(() => undefined)
  const isNamed = selection.kind === 'names'
  const no = await consent(plan, isNamed, told, output)
  return no ?? carryOut(plan, { isBatch, store, rerunOf: given.rerun }, told, output)
}

/** The one stream that was named, with at most one event of it. */
function singleOf(selection: Selection, { event = [] }: OnStreamsOptions): string | undefined {
  const isOne = selection.kind === 'names' && selection.names.length === 1 && event.length <= 1
  return isOne ? selection.names[0] : undefined
}

/** Nothing is shown or asked for one stream by its name: whether it is there the change itself finds out. */
function needsNoLook({ verb, options, runtime }: Told): boolean {
  if (options.dryRun || options.expect !== undefined || verb.asksAlways) return false
  return runtime.opened?.isProtected !== true
}

async function changeUnseen(
  stream: string,
  told: Told,
  store: EventStore,
  output: Output,
): Promise<Problem | undefined> {
  const { verb, options, runtime } = told
  const [target = { stream, event: undefined }] = targetsOf(stream, options.event ?? [])
  const commandId = options.commandId ?? runtime.newId()
  const outcome = await verb.change({ target, commandId, pin: {}, store, options, runtime })
  return printSingle({ target, commandId, outcome }, told, output)
}

function planFor(selection: Selection, again: Repeated | undefined, told: Told, store: EventStore): Promise<Plan> {
  const { verb, options, runtime } = told
  const events = options.event ?? []
  const request = {
    verb,
    options,
    selection,
    eventsOf: events.length === 0 ? undefined : (again?.eventsOf ?? (() => events)),
    leaveOut: selection.kind !== 'names' && again === undefined,
    keepRows: options.dryRun ? Number.POSITIVE_INFINITY : ROWS_SHOWN,
    ...(again === undefined ? {} : { objection: again.objection, bornOf: again.bornOf }),
    ...(again === undefined || verb.gone === undefined ? {} : { gone: verb.gone }),
  }
  return makePlan(request, store, runtime.signal)
}

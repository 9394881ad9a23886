import { type Output, openOutput } from '../../cli/output.ts'
import { type Problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { requireSelection } from '../../cli/selection/read.ts'
import { openStoreFor } from '../../cli/store.ts'
import type { Selection } from '../../ops/selection.ts'
import type { StreamStore } from '../../store/store.ts'
import { type BatchAction, targetsOf } from './action.ts'
import type { BatchCommandOptions } from './options.ts'
import { printSingle } from './report.ts'
import type { BatchContext } from './result.ts'
import type { Resume } from './resume.ts'

/**
 * Changes one or many streams, or events of them: inspects all of them, previews and asks depending on their number, then
 * makes one change in each.
 */
export async function runBatchCommand(
  firstRun: BatchAction,
  given: BatchCommandOptions,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const output = await openOutput(given, runtime)
  const resume = await resumed(firstRun, given, runtime)
  // The system is asked for the user once, not for each change.
  const options = { ...resume?.how, ...given, by: given.by ?? runtime.actor, ...resume?.given, ...rerunOf(resume) }
  const events = options.event ?? []
  const selection = resume?.selection ?? (await requireSelection(options, runtime, events))
  const store = await openStoreFor(options, runtime, output)
  resume?.checkStore(store.address)
  const repeated = given.commandId === undefined ? undefined : await firstRun.repeated?.(store, given.commandId)
  const context = { action: repeated ?? firstRun, options, runtime }
  const single = singleOf(selection, events)
  if (single !== undefined && needsNoPlan(context)) return changeWithoutPlan(single, context, store, output)
  if (resume !== undefined) await output.say(resume.sentence)
  const { runPlanned } = await import('./planned.ts')
  const selected = { selection, isBatch: single === undefined, resume }
  return runPlanned(selected, context, store, output)
}

/** The path instead of the word `last`, for the run file of this run. */
function rerunOf(resume: Resume | undefined): Pick<BatchCommandOptions, 'rerun'> {
  return resume === undefined ? {} : { rerun: resume.path }
}

/** The rest of the run of `--rerun`, if given. @throws UsageError */
async function resumed(
  action: BatchAction,
  options: BatchCommandOptions,
  runtime: Runtime,
): Promise<Resume | undefined> {
  const { rerun, only } = options
  if (rerun !== undefined) return (await import('./resume.ts')).resumeOf(rerun, action, options, runtime)
  if (only !== undefined) throw new UsageError('--only needs --rerun', { hint: 'It selects outcomes in a run file.' })
  return undefined
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

import type { EventStore } from '../../store/store.ts'
import { visibleText } from '../../stream/texts.ts'
import { interruptedProblem } from '../error-problem.ts'
import type { Output } from '../output.ts'
import type { Problem } from '../problem.ts'
import { endProblem, tellEnd } from './batch-end.ts'
import type { Result, Told } from './batch-result.ts'
import { perform } from './perform.ts'
import type { Plan } from './plan.ts'
import { openReport } from './report.ts'
import { openRunFile, type RunFile } from './run-file.ts'
import { printSingle } from './single.ts'
import { type Target, targetCommandId } from './targets.ts'

export interface Means {
  readonly store: EventStore
  /** More than one target was asked for, or may have been. */
  readonly isBatch: boolean
  /** The run file whose rest this is. */
  readonly rerunOf: string | undefined
}

/** Does what was planned and shown, and tells what became of each target. */
export async function carryOut(plan: Plan, means: Means, told: Told, output: Output): Promise<Problem | undefined> {
  const { options, runtime } = told
  const commandId = options.commandId ?? runtime.newId()
  if (!means.isBatch) return carryOutOne(plan, commandId, means.store, told, output)
  const runFile = await runFileFor(plan, commandId, means, told, output)
  if (runFile !== undefined && 'exit' in runFile) return runFile
  const path = runFile?.path
  // A second Ctrl-C ends the process at once: whoever gives it has to know by then how to go on.
  const nameIt = () => void output.say(`run file ${path === undefined ? '' : visibleText(path)}; --rerun does the rest`)
  if (path !== undefined) runtime.signal.addEventListener('abort', nameIt, { once: true })
  const results = new Map<Target, Result>()
  const report = openReport(plan.targets, told, output)
  const onResult = (result: Result) => {
    results.set(result.target, result)
    runFile?.add(result)
    report.add(result)
  }
  for (const { target, outcome } of plan.settled) {
    onResult({ target, commandId: targetCommandId(commandId, target, true), outcome })
  }
  await perform(plan.jobs, told, { store: means.store, commandId, isBatch: true, onResult })
  runtime.signal.removeEventListener('abort', nameIt)
  await Promise.all([runFile?.close(), report.end()])
  const end = { plan, results: plan.targets.flatMap(target => results.get(target) ?? []), runFile: path }
  await tellEnd(end, report.counts, told, output)
  return endProblem(end, told)
}

/** One target that was named, and for once asked about. */
async function carryOutOne(
  plan: Plan,
  commandId: string,
  store: EventStore,
  told: Told,
  output: Output,
): Promise<Problem | undefined> {
  const results: Result[] = plan.settled.map(settled => ({ ...settled, commandId }))
  const onResult = (result: Result) => void results.push(result)
  await perform(plan.jobs, told, { store, commandId, isBatch: false, onResult })
  const [result] = results
  return result === undefined ? interruptedProblem(told.runtime.signal) : printSingle(result, told, output)
}

/** Nothing is begun without one: what could not be taken up again is not started. */
async function runFileFor(
  plan: Plan,
  commandId: string,
  { store, rerunOf }: Means,
  { verb, options, runtime }: Told,
  output: Output,
): Promise<RunFile | Problem | undefined> {
  if (plan.targets.length === 0) return undefined
  const header = { verb: verb.name, store: store.address, commandId, options, rerunOf }
  return openRunFile(header, plan, runtime, message => void output.say(visibleText(message)))
}

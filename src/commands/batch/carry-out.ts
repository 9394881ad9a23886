import { interruptedProblem } from '../../cli/error-problem.ts'
import type { Output } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import { visibleText } from '../../stream/text.ts'
import { endProblem, tellEnd } from './end.ts'
import { doPlan, type Means } from './execute.ts'
import type { Plan } from './plan.ts'
import { openReport, type Report } from './report.ts'
import type { Told } from './result.ts'
import { printSingle } from './single.ts'

/** Does what was planned and shown, and tells what became of each target. */
export async function carryOut(
  plan: Plan,
  given: Omit<Means, 'commandId'>,
  told: Told,
  output: Output,
): Promise<Problem | undefined> {
  const means = { ...given, commandId: told.options.commandId ?? told.runtime.newId() }
  return means.isBatch ? carryOutMany(plan, means, told, output) : carryOutOne(plan, means, told, output)
}

async function carryOutMany(plan: Plan, means: Means, told: Told, output: Output): Promise<Problem | undefined> {
  const { signal } = told.runtime
  let report: Report | undefined
  let nameIt = () => {}
  const ended = await doPlan(plan, means, told, {
    began(path) {
      // A second Ctrl-C ends the process at once: whoever gives it has to know by then how to go on.
      if (path !== undefined) nameIt = () => void output.say(`run file ${visibleText(path)}; --rerun does the rest`)
      signal.addEventListener('abort', nameIt, { once: true })
      report = openReport(plan.targets, told, output)
    },
    onResult: result => report?.add(result),
    onFault: message => void output.say(visibleText(message)),
  })
  signal.removeEventListener('abort', nameIt)
  await report?.end()
  if ('exit' in ended) return ended
  await tellEnd(ended, report?.counts ?? new Map(), told, output)
  return endProblem(ended, told)
}

/** One target that was named, and for once asked about. */
async function carryOutOne(plan: Plan, means: Means, told: Told, output: Output): Promise<Problem | undefined> {
  const ended = await doPlan(plan, means, told, { began() {}, onResult() {}, onFault() {} })
  if ('exit' in ended) return ended
  const [result] = ended.results
  return result === undefined ? interruptedProblem(told.runtime.signal) : printSingle(result, told, output)
}

import { commandLine } from '../../cli/command-line.ts'
import { interruptedProblem } from '../../cli/error-problem.ts'
import { itemsWriter } from '../../cli/items-writer.ts'
import type { Output } from '../../cli/output.ts'
import type { Fact, Problem } from '../../cli/problem.ts'
import { jsonText } from '../../formats/json.ts'
import { countText } from '../../formats/terminal/count-text.ts'
import { visibleText } from '../../stream/text.ts'
import type { OutcomeWord } from './outcome-words.ts'
import type { Plan } from './plan.ts'
import { type Counts, countsText } from './progress.ts'
import { batchProblem, isProblem, type Result, resultJson, type Told, wordOf } from './result.ts'

/** A batch that has ended, or was stopped. */
export interface EndedBatch {
  readonly plan: Plan
  /** In the order of the selection; those that were not begun are not among them. */
  readonly results: readonly Result[]
  readonly runFile: string | undefined
}

/** The list for `-o json`, and for people what became of it all. */
export async function tellEnd(ended: EndedBatch, counts: Counts, told: Told, output: Output): Promise<void> {
  const { plan, results, runFile } = ended
  const notBegun = notBegunIn(ended)
  if (told.options.output === 'json') {
    const items = itemsWriter(output)
    await items.write(results.map(result => jsonText(resultJson(result, told), 0)))
    await items.end({
      total: results.length,
      verb: told.verb.name,
      counts: Object.fromEntries(counts),
      notBegun,
      leftOut: plan.leftOut,
      runFile: runFile ?? null,
    })
  }
  await output.say(endText(ended, counts, told))
  if (runFile !== undefined) await output.say(`run file: ${visibleText(runFile)}`)
}

/** `408 done, 3 busy; 12 not begun; 2 already final, left out` */
export function endText(ended: EndedBatch, counts: Counts, told: Told): string {
  const { leftOut } = ended.plan
  const notBegun = notBegunIn(ended)
  const parts = [
    ...(counts.size === 0 ? [] : [countsText(counts)]),
    ...(notBegun === 0 ? [] : [`${countText(notBegun)} not begun`]),
    ...(leftOut === 0 ? [] : [`${countText(leftOut)} ${told.verb.leavesOut?.because}, left out`]),
  ]
  return parts.length === 0 ? 'nothing is selected; nothing was changed' : parts.join('; ')
}

/** Why the command does not end with 0, if so; with the command that does the rest. */
export function endProblem(ended: EndedBatch, { verb, runtime }: Told): Problem | undefined {
  const { results, runFile } = ended
  const notBegun = notBegunIn(ended)
  const mayDoBetter = notBegun > 0 || results.some(result => AGAIN.has(wordOf(result)))
  const again = mayDoBetter && runFile !== undefined ? commandLine(runtime, [verb.name, '--rerun', runFile]) : undefined
  const incomplete = batchProblem({ results, notBegun, ...(again === undefined ? {} : { tryCommand: again }) })
  if (incomplete === undefined) return undefined
  if (!runtime.signal.aborted) return notBegun === 0 ? incomplete : { ...incomplete, facts: whyStopped(results) }
  const { code, exit, retryable } = interruptedProblem(runtime.signal)
  return { ...incomplete, code, exit, retryable, message: `${code}: ${incomplete.message}` }
}

/** Nothing more was begun after the store had refused one change after the other. */
function whyStopped(results: readonly Result[]): readonly Fact[] {
  const last = results.findLast(({ outcome }) => isProblem(outcome))?.outcome
  return last !== undefined && isProblem(last) ? [['because', last.message]] : []
}

/** What may be otherwise the next time. */
const AGAIN: ReadonlySet<OutcomeWord> = new Set(['busy', 'changed', 'failed', 'unknown'])

function notBegunIn({ plan, results }: EndedBatch): number {
  return plan.targets.length - results.length
}

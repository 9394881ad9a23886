import type { Output } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import { changeLines } from '../../formats/change.ts'
import { jsonDocument, jsonLine } from '../../formats/json.ts'
import { changedOf, isProblem, type Result, resultJson, type Told } from './result.ts'

/** The outcome of one target that was named: its problem, if any, is told like every error. */
export async function printSingle(result: Result, told: Told, output: Output): Promise<Problem | undefined> {
  const { verb, options, runtime } = told
  const { outcome } = result
  const failed = isProblem(outcome)
  if (options.output === 'ndjson') await output.text(jsonLine(resultJson(result, told)))
  else if (failed) return outcome
  else if (options.output === 'json') await output.text(jsonDocument(resultJson(result, told)))
  else if (!options.quiet) {
    const note = verb.note?.(options) ?? ''
    const word = `${verb.word}${note === '' ? '' : ` ${note}`}`
    const lines = changeLines(changedOf(result, outcome, options), word, runtime.nowMs(), output.paint)
    await output.lines(verb.name === 'rm' ? lines.slice(0, 1) : lines)
  }
  return failed ? outcome : undefined
}

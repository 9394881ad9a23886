import { changeJson, changeLines } from '../../formats/change-text.ts'
import { jsonDocument } from '../../formats/json.ts'
import type { TransactOutcome } from '../../ops/transact-types.ts'
import type { Operation } from '../../stream/operation.ts'
import type { ChangeFlags, GlobalOptions } from '../options.ts'
import type { Output } from '../output.ts'
import { type Problem, problem } from '../problem.ts'
import { problemJson, problemLines } from '../problem-text.ts'
import type { Runtime } from '../runtime.ts'
import type { Target } from './targets.ts'

/** What is done to each of several targets. */
export interface Batch {
  readonly streams: readonly string[]
  /** Events of each of them; none means the streams as a whole. */
  readonly events: readonly string[]
  readonly options: GlobalOptions & ChangeFlags & { readonly skipMissing?: boolean }
  /** `cancel`. */
  readonly verb: string
  /** `canceled`. */
  readonly word: string
  readonly operation: (event: string | undefined) => Operation
}

type Done = Extract<TransactOutcome, { kind: 'done' }>

/** What became of one target. */
export interface Result {
  readonly target: Target
  readonly commandId: string
  readonly outcome: Done | Problem
}

/** One target's outcome as it happens. The problem of a single one is printed at the end like every error. */
export async function printResult(
  batch: Batch,
  result: Result,
  many: boolean,
  output: Output,
  runtime: Runtime,
): Promise<void> {
  const { options, word } = batch
  if (options.output === 'json') return
  const { outcome } = result
  if (isProblem(outcome)) {
    if (!many) return
    const lines = problemLines({ ...outcome, message: `${batchWord(outcome)}: ${outcome.message}` }, runtime.nowMs())
    await runtime.stderr.write(`${lines.join('\n')}\n`)
  } else if (!options.quiet) {
    await output.lines(changeLines(changedOf(batch, result, outcome), word, runtime.nowMs(), output.paint))
  }
}

/** The change itself for one target, a list for several. */
export async function printJson(batch: Batch, results: readonly Result[], output: Output): Promise<void> {
  const items = results.map(result => resultJson(batch, result))
  const [only, ...others] = results
  if (others.length > 0) await output.text(jsonDocument({ items, total: items.length }))
  else if (only !== undefined && !isProblem(only.outcome)) await output.text(jsonDocument(items[0] ?? {}))
}

function resultJson(batch: Batch, result: Result): object {
  const { target, commandId, outcome } = result
  if (!isProblem(outcome)) return changeJson(changedOf(batch, result, outcome))
  return {
    stream: target.stream,
    event: target.event ?? null,
    outcome: batchWord(outcome),
    commandId,
    reason: batch.options.reason ?? null,
    error: problemJson(outcome),
  }
}

function changedOf({ options }: Batch, { target, commandId }: Result, { result }: Done) {
  return { ...target, result, commandId, reason: options.reason }
}

/** The outcome of one stream of a batch, in the words that scripts compare. */
function batchWord({ exit, code }: Problem): 'refused' | 'busy' | 'changed' | 'failed' | 'unknown' {
  if (code === 'changed') return 'changed'
  if (exit === 5) return 'refused'
  if (exit === 6) return 'busy'
  return exit === 10 ? 'unknown' : 'failed'
}

/** Exit 7 if some were not done. */
export function batchProblem(results: readonly Result[]): Problem | undefined {
  const failed = results.filter(({ outcome }) => isProblem(outcome))
  if (failed.length === 0) return undefined
  const names = failed.slice(0, 5).map(({ target }) => target.stream)
  return problem('batch-incomplete', `${failed.length} of ${results.length} not done`, {
    applied: failed.length < results.length ? 'yes' : failed.some(isUnknown) ? 'unknown' : 'no',
    facts: [['streams', `${names.join(' ')}${failed.length > 5 ? ` +${failed.length - 5}` : ''}`]],
    hint: 'What was done stays done; repeating the command is safe.',
  })
}

function isUnknown({ outcome }: Result): boolean {
  return isProblem(outcome) && outcome.applied === 'unknown'
}

function isProblem(outcome: Done | Problem): outcome is Problem {
  return 'exit' in outcome
}

/** Why one target was not done. */
export function problemOf(result: Result | undefined): Problem | undefined {
  return result !== undefined && isProblem(result.outcome) ? result.outcome : undefined
}

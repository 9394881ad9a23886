import { type Problem, problem } from '../../cli/problem.ts'
import { problemJson } from '../../cli/problem-text.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { changeJson } from '../../formats/change.ts'
import { countText } from '../../formats/terminal/numbers.ts'
import type { Style } from '../../formats/terminal/style.ts'
import { visibleName } from '../../util/visible-text.ts'
import { type BatchAction, changedOf, isProblem, type Result } from './action.ts'
import type { OutcomeWord, SignedOptions } from './options.ts'
import type { BatchPlan } from './plan.ts'

/** The command of a batch. */
export interface BatchContext {
  readonly action: BatchAction
  readonly options: SignedOptions
  readonly runtime: Runtime
}

/** One outcome as JSON. Fields are only ever added. */
export function resultJson(result: Result, { action, options }: BatchContext): object {
  const { target, commandId, outcome } = result
  const fields = action.fields?.(options) ?? {}
  if (!isProblem(outcome)) return { ...changeJson(changedOf(result, outcome, options)), ...fields, ...outcome.fields }
  return {
    stream: target.stream,
    event: target.event ?? null,
    outcome: wordOf(result),
    version: null,
    commandId,
    reason: options.reason ?? null,
    error: problemJson(outcome),
    ...fields,
  }
}

/** The word for an outcome. */
export function wordOf({ outcome }: Pick<Result, 'outcome'>): OutcomeWord {
  if (!isProblem(outcome)) return outcome.result.outcome
  const { exit, code } = outcome
  // a stream that vanished since its inspection has changed; one stopped while waiting for a lease is busy
  if (code === 'changed' || code === 'stream-not-found') return 'changed'
  if (exit === 6 || code === 'interrupted' || code === 'terminated') return 'busy'
  if (exit === 5) return 'refused'
  return exit === 10 ? 'unknown' : 'failed'
}

/** The results of a batch. */
export interface BatchEnd {
  readonly results: readonly Result[]
  /** Number of targets that were not started. */
  readonly notStarted?: number
  /** The command that does the rest. */
  readonly tryCommand?: string
}

/** Outcomes that may differ in the next run. */
const AGAIN: ReadonlySet<OutcomeWord> = new Set(['busy', 'changed', 'failed', 'unknown'])

/** Whether a further run may do what this one did not. */
export function mayDoBetter({ results, notStarted = 0 }: BatchEnd): boolean {
  return notStarted > 0 || results.some(mayChange)
}

/** An impossible name stays impossible. */
function mayChange(result: Result): boolean {
  const { outcome } = result
  return AGAIN.has(wordOf(result)) && !(isProblem(outcome) && outcome.code === 'bad-name')
}

/** Exit 7 if some targets were not done; a single target keeps its own code. */
export function batchProblem({ results, notStarted = 0, tryCommand }: BatchEnd): Problem | undefined {
  const failed = results.filter(({ outcome }) => isProblem(outcome))
  if (failed.length + notStarted === 0) return undefined
  const more = tryCommand === undefined ? {} : { tryCommand }
  const isRetryable = mayDoBetter({ results, notStarted })
  const [only, ...others] = results
  if (notStarted === 0 && others.length === 0 && only !== undefined && isProblem(only.outcome)) {
    return { ...only.outcome, ...more }
  }
  const total = results.length + notStarted
  const started = notStarted === 0 ? '' : `, ${countText(notStarted)} of them not started`
  const names = [...new Set(failed.map(({ target }) => visibleName(target.stream)))]
  const unnamed = names.length > 5 ? ` +${countText(names.length - 5)}` : ''
  const named = `${names.slice(0, 5).join(' ')}${unnamed}`
  return problem(
    'batch-incomplete',
    `${countText(failed.length + notStarted)} of ${countText(total)} not done${started}`,
    {
      ...more,
      applied: failed.length < results.length ? 'yes' : failed.some(isUnknown) ? 'unknown' : 'no',
      ...(failed.length === 0 ? {} : { facts: [['streams', named] as const] }),
      retryable: isRetryable,
      hint: isRetryable
        ? 'Completed changes stay; repeating is safe.'
        : 'Completed changes stay; what was refused would be refused again.',
    },
  )
}

function isUnknown({ outcome }: Result): boolean {
  return isProblem(outcome) && outcome.applied === 'unknown'
}

/** The outcome of copying a stream: `skipped` on request, `gone` if it vanished meanwhile, `todo` in a dry run. */
export type TransferWord = OutcomeWord | 'todo' | 'skipped' | 'gone'

/** The style of each outcome of a change or copy, in the order of the counts. */
const outcomeStyles: { readonly [Word in TransferWord]: { glyph: string; style: Style; counted?: string } } = {
  done: { glyph: '✓', style: 'good' },
  todo: { glyph: '○', style: 'plain', counted: 'to be done' },
  already: { glyph: '✓', style: 'dim' },
  skipped: { glyph: '-', style: 'dim' },
  refused: { glyph: '✗', style: 'bad' },
  busy: { glyph: '◷', style: 'warn' },
  changed: { glyph: '!', style: 'warn' },
  failed: { glyph: '✗', style: 'bad' },
  unknown: { glyph: '?', style: 'warn' },
  gone: { glyph: '-', style: 'dim', counted: 'vanished meanwhile' },
}

/** `✓ done` */
export function outcomeCell(word: TransferWord): { readonly text: string; readonly style: Style } {
  const { glyph, style } = outcomeStyles[word]
  return { text: `${glyph} ${word}`, style }
}

/** Number of targets by outcome. */
export type OutcomeCounts = ReadonlyMap<TransferWord, number>

export function count<Word extends TransferWord>(counts: Map<Word, number>, word: Word): void {
  counts.set(word, (counts.get(word) ?? 0) + 1)
}

/** `408 done, 3 busy` */
export function countsText(counts: OutcomeCounts): string {
  const words = Object.entries(outcomeStyles) as [TransferWord, { readonly counted?: string }][]
  return words
    .filter(([word]) => counts.has(word))
    .map(([word, { counted = word }]) => `${countText(counts.get(word) ?? 0)} ${counted}`)
    .join(', ')
}

/** `2 already final, left out` */
export function leftOutText({ leftOutBecause }: Pick<BatchPlan, 'leftOutBecause'>): string {
  return `${countsByName(leftOutBecause)}, left out`
}

/** `3 join-ran, 2 canceled` */
export function countsByName(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${countText(count)} ${name}`).join(', ')
}

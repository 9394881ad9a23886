import { commandLine } from '../../cli/command-line.ts'
import { interruptedProblem } from '../../cli/error-problem.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import { itemsWriter, type Output } from '../../cli/output.ts'
import type { Fact, Problem } from '../../cli/problem.ts'
import { openProgressLine } from '../../cli/progress-line.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { changeLines } from '../../formats/change.ts'
import { jsonDocument, jsonLine, jsonText } from '../../formats/json.ts'
import { countText } from '../../formats/terminal/numbers.ts'
import { type Cell, type Column, tableHeader, tableRows, tableWidths } from '../../formats/terminal/table.ts'
import { widthOf } from '../../formats/terminal/width.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import type { Done, Target } from './action.ts'
import { OUTCOME_WORDS, type OutcomeWord } from './options.ts'
import type { Plan } from './plan.ts'
import {
  type BatchContext,
  batchProblem,
  changedOf,
  isProblem,
  outcomeStyles,
  type Result,
  resultJson,
  wordOf,
} from './result.ts'
import { WriteBuffer } from './write-buffer.ts'

/** Where the outcomes of a batch go as they come. */
export interface Report {
  readonly counts: ReadonlyMap<OutcomeWord, number>
  add(result: Result): void
  /** Resolves when all is printed. */
  end(): Promise<void>
}

interface Writer {
  write(results: readonly Result[]): Promise<void>
  end(): Promise<void>
}

/** Prints outcomes as `-o` says, in the order in which they come; `json` waits for all of them. */
export function openReport(targets: readonly Target[], context: BatchContext, output: Output): Report {
  const { options, runtime } = context
  const counts = new Map<OutcomeWord, number>()
  const progress = openProgress(counts, targets.length, options, runtime)
  const writer = writerOf(targets, context, output)
  const buffer = new WriteBuffer<Result>(results => progress.aside(() => writer.write(results)))
  return {
    counts,
    add(result) {
      const word = wordOf(result)
      counts.set(word, (counts.get(word) ?? 0) + 1)
      buffer.add(result)
    },
    async end() {
      await buffer.end()
      await progress.end()
      await writer.end()
    },
  }
}

function writerOf(targets: readonly Target[], context: BatchContext, output: Output): Writer {
  const end = async () => {}
  if (context.options.output === 'json') return { write: end, end }
  if (context.options.output !== 'ndjson') return tableOf(targets, context, output)
  return { write: results => output.text(results.map(result => jsonLine(resultJson(result, context))).join('')), end }
}

function tableOf(targets: readonly Target[], context: BatchContext, output: Output): Writer {
  const { columns, widths, row } = outcomeColumns(targets)
  const { quiet } = context.options
  let known: readonly number[] | undefined
  const print = async (results: readonly Result[]) => {
    const cells = results.map(result => row(result, context))
    const fitted = tableWidths(columns, cells, {
      atLeast: known ?? widths,
      ...(output.width === undefined ? {} : { width: output.width }),
    })
    const header = known === undefined ? [tableHeader(columns, fitted, output.paint)] : []
    known = fitted
    await output.lines([...header, ...tableRows(columns, cells, fitted, output.paint)])
  }
  return {
    async write(results) {
      // -q says only what went wrong
      const printed = quiet ? results.filter(({ outcome }) => isProblem(outcome)) : results
      if (printed.length > 0) await print(printed)
    },
    async end() {
      if (known === undefined && !quiet) await print([])
    },
  }
}

/** How many targets have which outcome. */
type Counts = ReadonlyMap<OutcomeWord, number>

/** Counts of what became of these. */
export function countsOf(results: readonly Pick<Result, 'outcome'>[]): Counts {
  const counts = new Map<OutcomeWord, number>()
  for (const result of results) counts.set(wordOf(result), (counts.get(wordOf(result)) ?? 0) + 1)
  return counts
}

/** `408 done, 3 busy` */
export function countsText(counts: Counts): string {
  return OUTCOME_WORDS.flatMap(word => {
    const count = counts.get(word)
    return count === undefined ? [] : [`${countText(count)} ${word}`]
  }).join(', ')
}

/** `412 of 1 000: 408 done, 3 busy, 1 changed` */
export function progressText(counts: Counts, total: number): string {
  const ended = counts.values().reduce((sum, count) => sum + count, 0)
  return `${countText(ended)} of ${countText(total)}${ended === 0 ? '' : `: ${countsText(counts)}`}`
}

const DRAW_EVERY_MS = 200

/** How far a batch is, on a terminal. */
export interface Progress {
  /** Takes the line away while something else is printed. */
  aside(print: () => Promise<void>): Promise<void>
  end(): Promise<void>
}

/** Draws the counts as they grow. What the first Ctrl-C says stands on a line of its own. */
export function openProgress(counts: Counts, total: number, options: GlobalOptions, runtime: Runtime): Progress {
  const line = openProgressLine(options, runtime)
  let isAside = false
  const draw = () => {
    if (!isAside) void line.show(progressText(counts, total))
  }
  const timer = setInterval(draw, DRAW_EVERY_MS).unref()
  const clear = () => void line.clear()
  runtime.signal.addEventListener('abort', clear)
  return {
    async aside(print) {
      isAside = true
      await line.clear()
      await print()
      isAside = false
    },
    async end() {
      clearInterval(timer)
      runtime.signal.removeEventListener('abort', clear)
      await line.clear()
    },
  }
}

/** The table of what became of a batch, row by row as it goes. */
export interface OutcomeColumns {
  readonly columns: readonly Column[]
  /** Known beforehand, so that all rows stand below each other. */
  readonly widths: readonly number[]
  readonly row: (result: Result, context: BatchContext) => Cell[]
}

/** Columns for these targets. */
function outcomeColumns(targets: readonly Target[]): OutcomeColumns {
  const withEvents = targets.some(({ event }) => event !== undefined)
  const widest = (text: (target: Target) => string) =>
    targets.reduce((most, target) => Math.max(most, widthOf(visibleText(text(target)))), 0)
  const event = { title: 'EVENT' }
  return {
    columns: [
      { title: 'STREAM', give: 1, min: 12, cut: 'middle' },
      ...(withEvents ? [event] : []),
      { title: 'OUTCOME' },
      { title: 'VERSION', align: 'right' },
      { title: 'WHAT', runsOn: true, min: 8 },
    ],
    widths: [
      widest(({ stream }) => stream),
      ...(withEvents ? [widest(target => target.event ?? '')] : []),
      '? refused'.length,
      0,
      0,
    ],
    row: (result, context) => rowOf(result, withEvents, context),
  }
}

function rowOf(result: Result, withEvents: boolean, context: BatchContext): Cell[] {
  const { target, outcome } = result
  const word = wordOf(result)
  const { glyph, style } = outcomeStyles[word]
  const version = isProblem(outcome) ? '-' : `${outcome.result.version}`
  return [
    visibleName(target.stream),
    ...(withEvents ? [visibleText(target.event ?? '')] : []),
    { text: `${glyph} ${word}`, style },
    version,
    whatText(result, context),
  ]
}

/** What became of a target, in one line: `canceled, with 3 more events`, or why not. Safe to print. */
export function whatText({ target, outcome }: Result, context: BatchContext): string {
  return isProblem(outcome) ? whyNot(outcome, target) : effectOf(outcome, context)
}

/** `canceled, with 3 more events`. */
function effectOf({ result }: Done, { action, options }: BatchContext): string {
  if (result.duplicate) return 'this command was done before'
  if (result.outcome === 'already') return 'already so'
  const others = result.changed.length - 1
  const refused = result.refused?.length ?? 0
  const note = action.note?.(options) ?? ''
  return [
    `${action.pastParticiple}${note === '' ? '' : ` ${note}`}`,
    ...(others > 0 ? [`with ${others} more event${others === 1 ? '' : 's'}`] : []),
    ...(refused > 0 ? [`${refused} not retried`] : []),
  ].join(', ')
}

/** The problem in one line, without the name that stands in front of it. Safe to print. */
export function whyNot({ message, code, facts = [] }: Problem, { stream }: Target): string {
  const rest = message.startsWith(`${stream}: `) ? message.slice(stream.length + 2) : message
  const holder = facts.find(([label]) => label === 'held by')?.[1]
  return visibleText(`${rest}${holder === undefined ? '' : ` (held by ${holder})`}  [${code}]`)
}

/** The outcome of one target that was named: its problem, if any, is context like every error. */
export async function printSingle(result: Result, context: BatchContext, output: Output): Promise<Problem | undefined> {
  const { action, options, runtime } = context
  const { outcome } = result
  const failed = isProblem(outcome)
  if (options.output === 'ndjson') await output.text(jsonLine(resultJson(result, context)))
  else if (failed) return outcome
  else if (options.output === 'json') await output.text(jsonDocument(resultJson(result, context)))
  else if (!options.quiet) {
    const note = action.note?.(options) ?? ''
    const word = `${action.pastParticiple}${note === '' ? '' : ` ${note}`}`
    const lines = changeLines(changedOf(result, outcome, options), word, runtime.nowMs(), output.paint)
    await output.lines(action.name === 'rm' ? lines.slice(0, 1) : lines)
  }
  return failed ? outcome : undefined
}

/** A batch that has ended, or was stopped. */
export interface EndedBatch {
  readonly plan: Plan
  /** In the order of the selection; those that were not begun are not among them. */
  readonly results: readonly Result[]
  readonly runFile: string | undefined
}

/** The list for `-o json`, and for people what became of it all. */
export async function tellEnd(ended: EndedBatch, counts: Counts, context: BatchContext, output: Output): Promise<void> {
  const { plan, results, runFile } = ended
  const notBegun = notBegunIn(ended)
  if (context.options.output === 'json') {
    const items = itemsWriter(output)
    await items.write(results.map(result => jsonText(resultJson(result, context), 0)))
    await items.end({
      total: results.length,
      verb: context.action.name,
      counts: Object.fromEntries(counts),
      notBegun,
      leftOut: plan.leftOut,
      runFile: runFile ?? null,
    })
  }
  await output.say(endText(ended, counts, context))
  if (runFile !== undefined) await output.say(`run file: ${visibleText(runFile)}`)
}

/** `408 done, 3 busy; 12 not begun; 2 already final, left out` */
export function endText(ended: EndedBatch, counts: Counts, context: BatchContext): string {
  const { leftOut } = ended.plan
  const notBegun = notBegunIn(ended)
  const parts = [
    ...(counts.size === 0 ? [] : [countsText(counts)]),
    ...(notBegun === 0 ? [] : [`${countText(notBegun)} not begun`]),
    ...(leftOut === 0 ? [] : [`${countText(leftOut)} ${context.action.leavesOut?.because}, left out`]),
  ]
  return parts.length === 0 ? 'nothing is selected; nothing was changed' : parts.join('; ')
}

/** Why the command does not end with 0, if so; with the command that does the rest. */
export function endProblem(ended: EndedBatch, { action, runtime }: BatchContext): Problem | undefined {
  const { results, runFile } = ended
  const notBegun = notBegunIn(ended)
  const mayDoBetter = notBegun > 0 || results.some(result => AGAIN.has(wordOf(result)))
  const again =
    mayDoBetter && runFile !== undefined ? commandLine(runtime, [action.name, '--rerun', runFile]) : undefined
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

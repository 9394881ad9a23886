import { commandLine } from '../../cli/command-line.ts'
import { interruptedProblem } from '../../cli/error-problem.ts'
import { itemsWriter, type Output } from '../../cli/output.ts'
import { printChange } from '../../cli/print-change.ts'
import type { Fact, Problem } from '../../cli/problem.ts'
import { STAYS_SUSPENDED } from '../../formats/change.ts'
import { jsonLine, jsonText } from '../../formats/json.ts'
import { countText } from '../../formats/terminal/numbers.ts'
import { type Cell, type Column, tableHeader, tableRows, tableWidths } from '../../formats/terminal/table.ts'
import { widthOf } from '../../formats/terminal/width.ts'
import { ROOT_ID } from '../../stream/event-id.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import { changedOf, type Done, isProblem, type Result, type Target } from './action.ts'
import type { OutcomeWord } from './options.ts'
import type { BatchPlan } from './plan.ts'
import { openProgress } from './progress.ts'
import {
  type BatchContext,
  batchProblem,
  count,
  countsText,
  leftOutText,
  mayDoBetter,
  type OutcomeCounts,
  outcomeCell,
  resultJson,
  wordOf,
} from './result.ts'
import { WriteBuffer } from './write-buffer.ts'

/** Receives the outcomes of a batch as they arrive. */
export interface Report {
  readonly counts: ReadonlyMap<OutcomeWord, number>
  add(result: Result): void
  /** Resolves when all is printed. */
  end(): Promise<void>
}

/** Prints outcomes in the format of `-o`, in the order of arrival; `json` waits for all of them. */
export function openReport(targets: readonly Target[], context: BatchContext, output: Output): Report {
  const { options, runtime } = context
  const counts = new Map<OutcomeWord, number>()
  const progress = openProgress(() => progressText(counts, targets.length), options, runtime)
  const printer = printerOf(targets, context, output)
  const buffer = new WriteBuffer<Result>(results => progress.pauseFor(() => printer.print(results)))
  return {
    counts,
    add(result) {
      count(counts, wordOf(result))
      buffer.add(result)
    },
    async end() {
      await buffer.end()
      await progress.end()
      await printer.end?.()
    },
  }
}

interface Printer {
  print(results: readonly Result[]): Promise<void>
  end?(): Promise<void>
}

function printerOf(targets: readonly Target[], context: BatchContext, output: Output): Printer {
  const format = context.options.output
  if (format === 'json') return { async print() {} }
  if (format !== 'ndjson') return tablePrinter(targets, context, output)
  return { print: results => output.text(results.map(result => jsonLine(resultJson(result, context))).join('')) }
}

/** Prints a table row by row. The widths are computed in advance, so that all rows are aligned. */
function tablePrinter(targets: readonly Target[], context: BatchContext, output: Output): Printer {
  const columns = outcomeColumns(targets, context)
  const { quiet } = context.options
  const width = output.width === undefined ? {} : { width: output.width }
  let widths: readonly number[] | undefined
  const print = async (results: readonly Result[]) => {
    const rows = results.map(result => columns.map(({ cell }) => cell(result)))
    const fitted = tableWidths(columns, rows, { atLeast: widths ?? columns.map(({ least }) => least), ...width })
    const header = widths === undefined ? [tableHeader(columns, fitted, output.paint)] : []
    widths = fitted
    await output.lines([...header, ...tableRows(columns, rows, fitted, output.paint)])
  }
  return {
    async print(results) {
      // -q prints only problems
      const printed = quiet ? results.filter(({ outcome }) => isProblem(outcome)) : results
      if (printed.length > 0) await print(printed)
    },
    async end() {
      if (widths === undefined && !quiet) await print([])
    },
  }
}

interface OutcomeColumn extends Column {
  /** Minimum width. */
  readonly least: number
  readonly cell: (result: Result) => Cell
}

function outcomeColumns(targets: readonly Target[], context: BatchContext): OutcomeColumn[] {
  const withEvents = targets.some(({ event }) => event !== undefined)
  const widest = (text: (target: Target) => string) =>
    targets.reduce((most, target) => Math.max(most, widthOf(visibleText(text(target)))), 0)
  const stream: OutcomeColumn = {
    ...{ title: 'STREAM', give: 1, min: 12, cut: 'middle', least: widest(target => target.stream) },
    cell: ({ target }) => visibleName(target.stream),
  }
  const event: OutcomeColumn = {
    ...{ title: 'EVENT', least: widest(target => target.event ?? '') },
    cell: ({ target }) => visibleText(target.event ?? ''),
  }
  return [
    stream,
    ...(withEvents ? [event] : []),
    { title: 'OUTCOME', least: '? refused'.length, cell: result => outcomeCell(wordOf(result)) },
    {
      ...{ title: 'VERSION', align: 'right', least: 0 },
      cell: ({ outcome }) => (isProblem(outcome) ? '-' : `${outcome.result.version}`),
    },
    { title: 'WHAT', runsOn: true, min: 8, least: 0, cell: result => whatText(result, context) },
  ]
}

/** Counts the outcomes. */
export function countsOf(results: readonly Pick<Result, 'outcome'>[]): OutcomeCounts {
  const counts = new Map<OutcomeWord, number>()
  for (const result of results) count(counts, wordOf(result))
  return counts
}

/** `412 of 1 000: 408 done, 3 busy, 1 changed` */
export function progressText(counts: OutcomeCounts, total: number): string {
  const ended = counts.values().reduce((sum, count) => sum + count, 0)
  return `${countText(ended)} of ${countText(total)}${ended === 0 ? '' : `: ${countsText(counts)}`}`
}

/** The outcome of a target in one line: `canceled, with 3 more events`, or the problem. Safe to print. */
export function whatText({ target, outcome }: Result, context: BatchContext): string {
  return isProblem(outcome) ? whyNot(outcome, target) : effectOf(outcome, target, context)
}

/** `canceled, with 3 more events` */
function effectOf(done: Done, { event = ROOT_ID }: Target, { action, options }: BatchContext): string {
  const { result } = done
  if (result.duplicate) return 'this command was done before'
  if (result.outcome === 'already') return 'already so'
  const isOther = ({ id }: { readonly id: string }) => id !== event && !result.added.includes(id)
  const others = action.consequence === undefined ? result.changed.filter(isOther).length : 0
  const consequence = action.consequence?.(result)
  const refused = result.refused?.length ?? 0
  return [
    wordsOf(done, action, options),
    ...(others > 0 ? [`with ${others} more event${others === 1 ? '' : 's'}`] : []),
    ...(consequence === undefined ? [] : [consequence]),
    ...(refused > 0 ? [`${refused} not retried`] : []),
    ...(result.suspended ? [STAYS_SUSPENDED] : []),
  ].join(', ')
}

/** `removed by alice` */
function wordsOf(
  { words }: Done,
  { pastParticiple, note }: BatchContext['action'],
  options: BatchContext['options'],
): string {
  return [words ?? pastParticiple, note?.(options) ?? ''].join(' ').trimEnd()
}

/** The problem in one line, without the name of the stream at its beginning. Safe to print. */
export function whyNot({ message, code, facts = [] }: Problem, { stream }: Target): string {
  const rest = message.startsWith(`${stream}: `) ? message.slice(stream.length + 2) : message
  const holder = facts.find(([label]) => label === 'held by')?.[1]
  return visibleText(`${rest}${holder === undefined ? '' : ` (held by ${holder})`}  [${code}]`)
}

/** Prints the outcome of a single named target. Returns its problem, which is printed like every error. */
export async function printSingle(result: Result, context: BatchContext, output: Output): Promise<Problem | undefined> {
  const { action, options, runtime } = context
  const { outcome } = result
  const failed = isProblem(outcome)
  if (options.output === 'ndjson') await output.text(jsonLine(resultJson(result, context)))
  else if (!failed) {
    const fields = { ...action.fields?.(options), ...outcome.fields }
    const printed = { options, word: wordsOf(outcome, action, options), fields, isBrief: action.name === 'rm' }
    await printChange(changedOf(result, outcome, options), printed, output, runtime)
  }
  return failed ? outcome : undefined
}

/** A batch that has ended or was stopped. */
export interface EndedBatch {
  readonly plan: BatchPlan
  /** In the order of the selection, without targets that were not started. */
  readonly results: readonly Result[]
  readonly runFile: string | undefined
}

/** Prints the end of a batch: the list of `-o json`, and the counts on stderr. */
export async function printEnd(
  ended: EndedBatch,
  counts: OutcomeCounts,
  context: BatchContext,
  output: Output,
): Promise<void> {
  const { plan, results, runFile } = ended
  const notStarted = notStartedIn(ended)
  if (context.options.output === 'json') {
    const items = itemsWriter(output)
    await items.write(results.map(result => jsonText(resultJson(result, context), 0)))
    await items.end({
      total: results.length,
      verb: context.action.name,
      counts: Object.fromEntries(counts),
      notBegun: notStarted,
      leftOut: plan.leftOut,
      leftOutBecause: Object.fromEntries(plan.leftOutBecause),
      runFile: runFile ?? null,
    })
  }
  await output.say(endText(ended, counts))
  if (runFile !== undefined) await output.say(`run file: ${visibleText(runFile)}`)
}

/** `408 done, 3 busy; 12 not started; 2 already final, left out` */
export function endText(ended: EndedBatch, counts: OutcomeCounts): string {
  const { plan } = ended
  const notStarted = notStartedIn(ended)
  const parts = [
    ...(counts.size === 0 ? [] : [countsText(counts)]),
    ...(notStarted === 0 ? [] : [`${countText(notStarted)} not started`]),
    ...(plan.leftOut === 0 ? [] : [leftOutText(plan)]),
  ]
  return parts.length === 0 ? 'nothing selected; nothing was changed' : parts.join('; ')
}

/** The problem of an incomplete batch, with the command that does the rest; `undefined` if all targets are done. */
export function endProblem(ended: EndedBatch, { action, runtime }: BatchContext): Problem | undefined {
  const { results, runFile } = ended
  const notStarted = notStartedIn(ended)
  const again =
    mayDoBetter({ results, notStarted }) && runFile !== undefined
      ? commandLine(runtime, [...action.name.split(' '), '--rerun', runFile])
      : undefined
  const incomplete = batchProblem({ results, notStarted, ...(again === undefined ? {} : { tryCommand: again }) })
  if (incomplete === undefined) return undefined
  if (!runtime.signal.aborted) return notStarted === 0 ? incomplete : { ...incomplete, facts: whyStopped(results) }
  const { code, exit, retryable } = interruptedProblem(runtime.signal)
  return { ...incomplete, code, exit, retryable, message: `${code}: ${incomplete.message}` }
}

/** Why the batch stopped: the last of its consecutive faults. */
function whyStopped(results: readonly Result[]): readonly Fact[] {
  const last = results.findLast(({ outcome }) => isProblem(outcome))?.outcome
  return last !== undefined && isProblem(last) ? [['because', last.message]] : []
}

function notStartedIn({ plan, results }: EndedBatch): number {
  return plan.targets.length - results.length
}

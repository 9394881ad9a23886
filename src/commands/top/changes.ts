import { commandLine } from '../../cli/command-line.ts'
import { CommandFailed } from '../../cli/problem.ts'
import { problemLines } from '../../cli/problem-text.ts'
import type { Runtime, RuntimeStore } from '../../cli/runtime.ts'
import { changeLines } from '../../formats/change.ts'
import { statusWord, styleOf } from '../../formats/stream/view.ts'
import { counted, countText } from '../../formats/terminal/numbers.ts'
import { tableRows, tableWidths } from '../../formats/terminal/table.ts'
import { checkText } from '../../stream/text.ts'
import type { ChangeEnd, ChangeTarget, ChangeVerb, Outcome, Preview } from '../../tui/ports.ts'
import { commandWords } from '../../util/strings.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import { ABORT } from '../abort.ts'
import { type BatchAction, changedOf, isProblem, type Result, transactAction } from '../batch/action.ts'
import { confirmationFor } from '../batch/confirm.ts'
import { executePlan } from '../batch/execute.ts'
import { type BatchPlan, makePlan, type PreviewRow } from '../batch/plan.ts'
import { countOf, planText, problemOf, ROWS_SHOWN } from '../batch/preview.ts'
import { countsOf, type EndedBatch, endProblem, endText, whatText, whyNot } from '../batch/report.ts'
import { type BatchContext, wordOf } from '../batch/result.ts'
import { CANCEL } from '../cancel.ts'
import { RETRY } from '../retry.ts'

const VERBS = { cancel: CANCEL, abort: ABORT, retry: RETRY } as const

/** Plans a change as the command does, with the inspected states as preconditions. */
export async function prepareChange(
  name: Exclude<ChangeVerb, 'break'>,
  targets: readonly ChangeTarget[],
  opened: RuntimeStore,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<Prepared> {
  const action = transactAction(VERBS[name])
  const events = eventsByStream(targets)
  const request = {
    action,
    options: { names: [], by: runtime.actor },
    selection: { kind: 'names', names: [...events.keys()] },
    eventsOf: [...events.values()].every(ids => ids.length === 0)
      ? undefined
      : (stream: string) => events.get(stream) ?? [],
    leaveOut: true,
    keepRows: ROWS_SHOWN,
    runtime,
  } as const
  const plan = await makePlan(request, opened.store, signal)
  const count = plan.jobs.reduce((sum, job) => sum + job.targets.length, 0)
  const only = targets.length === 1 ? targets[0] : undefined
  return {
    preview: {
      verb: name,
      question: count === 0 ? `There is nothing to ${name}` : action.question(nameOf(only, plan)),
      lines: previewLines(plan, action, only),
      count,
      command: reason => changeCommand(name, events, reason, runtime),
      confirm: confirmOf(plan.jobs.length, opened.isProtected),
      takesReason: true,
    },
    execute: executor(plan, action, events, targets.length > 1, opened, runtime),
  }
}

/** The targets in words: a single one by name, several by number. */
function nameOf(only: ChangeTarget | undefined, plan: BatchPlan): string {
  if (only === undefined) return countOf(plan)
  const { stream, event } = only
  return visibleText(event === undefined ? stream : `${event} of ${stream}`)
}

function confirmOf(streams: number, isProtected: boolean): Prepared['preview']['confirm'] {
  const how = confirmationFor({ streams, isNamed: true, isProtected, asksAlways: true, isTerminal: true })
  return how === 'the number' ? { kind: 'type', text: String(streams), what: 'the number of streams' } : { kind: 'yes' }
}

/** Executes the plan. All attempts share one command id, so that no change is applied twice. */
export function executor(
  plan: BatchPlan,
  action: BatchAction,
  events: ReadonlyMap<string, readonly string[]>,
  isBatch: boolean,
  { store }: RuntimeStore,
  runtime: Runtime,
): Prepared['execute'] {
  const commandId = runtime.newId()
  return async (reason, onOutcome, signal) => {
    checkText('reason', reason)
    const options = { names: [], by: runtime.actor, ...(reason === '' ? {} : { reason }) }
    const [group] = groups(events)
    const argv = group === undefined ? [] : changeWords(action.name, group, reason)
    const context: BatchContext = { action, options, runtime: changing(runtime, argv, signal) }
    const faults: string[] = []
    const ended = await executePlan(plan, { store, commandId, isBatch }, context, {
      onResult: result => onOutcome(outcomeOf(result, context)),
      onFault: message => void faults.push(visibleText(message)),
    })
    if ('exit' in ended) throw new CommandFailed(ended)
    return { lines: [...faults, ...(isBatch ? batchLines(ended, context) : singleLines(ended, context))] }
  }
}

function outcomeOf(result: Result, context: BatchContext): Outcome {
  const { stream, event } = result.target
  return {
    target: event === undefined ? { stream } : { stream, event },
    word: wordOf(result),
    isGood: !isProblem(result.outcome),
    text: whatText(result, context),
  }
}

function batchLines(ended: EndedBatch, context: BatchContext): ChangeEnd['lines'] {
  const rest = endProblem(ended, context)?.tryCommand
  return [
    endText(ended, countsOf(ended.results)),
    ...(ended.runFile === undefined ? [] : [`run file: ${visibleText(ended.runFile)}`]),
    ...(rest === undefined ? [] : [`the rest: ${visibleText(rest)}`]),
  ]
}

/** The consequences of the change, or the facts of its problem. */
function singleLines(
  { results: [result] }: EndedBatch,
  { action, options, runtime }: BatchContext,
): ChangeEnd['lines'] {
  if (result === undefined) return ['not started; nothing was changed']
  const { outcome } = result
  const lines = isProblem(outcome)
    ? problemLines(outcome, runtime.nowMs())
    : changeLines(changedOf(result, outcome, options), action.pastParticiple, runtime.nowMs())
  return lines.slice(1).map(line => line.trimStart())
}

/** Number of missing names to list; the rest is counted. */
const MAX_MISSING = 5

/** The lines of the preview: the targets, and why others are left out. Safe to print. */
function previewLines(plan: BatchPlan, action: BatchAction, only: ChangeTarget | undefined): readonly string[] {
  const { rows, targets, missing, leftOut } = plan
  const more = targets.length - rows.length
  const moreMissing = missing.length - MAX_MISSING
  return [
    ...tableOf(rows, action),
    ...(more > 0 ? [`and ${countText(more)} more`] : []),
    ...missing.slice(0, MAX_MISSING).map(({ message }) => `not tried: ${visibleText(message)}`),
    ...(moreMissing > 0 ? [`and ${countText(moreMissing)} more that do not exist`] : []),
    ...(only === undefined ? [planText(plan)] : []),
    ...(only !== undefined && leftOut > 0 ? [`${targetName(only)} is ${[...plan.leftOutBecause.keys()].join()}`] : []),
  ]
}

function targetName({ stream, event }: ChangeTarget): string {
  return visibleText(event === undefined ? stream : `${event} of ${stream}`)
}

function tableOf(rows: readonly PreviewRow[], action: BatchAction): string[] {
  const withEvents = rows.some(({ target }) => target.event !== undefined)
  const cells = rows.map(row => [
    visibleName(row.target.stream),
    ...(withEvents ? [visibleText(row.target.event ?? '')] : []),
    problemOf(row) === undefined ? `${styleOf(row.status).glyph} ${statusWord(row.status)}` : '✗ not tried',
    effectOf(row, action),
  ])
  const columns = (cells[0] ?? []).map(() => ({ title: '' }))
  return tableRows(columns, cells, tableWidths(columns, cells)).map(line => line.trimEnd())
}

/** What follows from it, or why it is left as it is. */
function effectOf(row: PreviewRow, { name }: BatchAction): string {
  const { target, item, openBelow } = row
  const why = problemOf(row)
  if (why !== undefined) return whyNot(why, target)
  if (name !== 'retry') return openBelow === 0 ? '' : `${counted(openBelow, 'open event')} below`
  const failed = item.summary?.failed ?? 0
  return target.event !== undefined || failed === 0 ? '' : counted(failed, 'failed event')
}

/** A planned change. */
export interface Prepared {
  readonly preview: Preview
  execute(reason: string, onOutcome: (outcome: Outcome) => void, signal: AbortSignal): Promise<ChangeEnd>
}

/** The runtime of the equivalent command. */
function changing(runtime: Runtime, argv: readonly string[], signal: AbortSignal): Runtime {
  return { ...runtime, argv, signal, kind: 'writes' }
}

/** The streams in order, each with its events; none for the whole stream. */
function eventsByStream(targets: readonly ChangeTarget[]): ReadonlyMap<string, readonly string[]> {
  const streams = new Map<string, Set<string>>()
  const whole = new Set(targets.flatMap(({ stream, event }) => (event === undefined ? [stream] : [])))
  for (const { stream, event } of targets) {
    const events = streams.get(stream) ?? new Set()
    streams.set(stream, events)
    // the whole stream includes its events
    if (event !== undefined && !whole.has(stream)) events.add(event)
  }
  return new Map([...streams].map(([stream, events]) => [stream, [...events]]))
}

type Events = ReadonlyMap<string, readonly string[]>

/** Longer command lines are neither readable nor easy to paste. */
const MAX_CHARACTERS = 4_000

/** The words of one command, for streams with the same events. */
function changeWords(verb: string, [names, events]: NamesOf, reason: string): readonly string[] {
  const why = reason === '' ? [] : ['-m', reason]
  const which = events.flatMap(event => ['-e', event])
  return commandWords(verb.split(' '), names, [...which, ...why])
}

type NamesOf = readonly [names: readonly string[], events: readonly string[]]

/** The command line that is equivalent to a change of the dashboard. */
export function changeCommand(verb: string, targets: Events, reason: string, runtime: Runtime): string {
  const lines = groups(targets).map(group => commandLine(runtime, changeWords(verb, group, reason)))
  const text = lines.join(' && ')
  if (text.length <= MAX_CHARACTERS) return text
  const why = reason === '' ? [] : ['-m', reason]
  const rest = commandLine(runtime, [...verb.split(' '), '--streams', '-', ...why])
  return `${rest}  # ${countText(targets.size)} names on standard input`
}

/** Groups streams with the same events. */
function groups(targets: Events): readonly NamesOf[] {
  const found = new Map<string, { readonly names: string[]; readonly events: readonly string[] }>()
  for (const [name, events] of targets) {
    const key = JSON.stringify(events)
    const group = found.get(key) ?? { names: [], events }
    found.set(key, group)
    group.names.push(name)
  }
  return [...found.values()].map(({ names, events }) => [names, events])
}

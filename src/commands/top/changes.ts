import { CommandFailed } from '../../cli/problem.ts'
import { problemLines } from '../../cli/problem-text.ts'
import type { Runtime, RuntimeStore } from '../../cli/runtime.ts'
import { changeLines } from '../../formats/change.ts'
import { stateStyle } from '../../formats/listing/health.ts'
import { counted, countText } from '../../formats/terminal/numbers.ts'
import { tableRows, tableWidths } from '../../formats/terminal/table.ts'
import { selected } from '../../ops/selection.ts'
import type { Summary } from '../../stream/summary.ts'
import { checkText } from '../../stream/text.ts'
import type { ChangeEnd, ChangeTarget, Outcome, Preview, SignalText } from '../../tui/ports.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import { ABORT } from '../abort.ts'
import { type BatchAction, changedOf, isProblem, type Result, transactAction } from '../batch/action.ts'
import { confirmationFor } from '../batch/confirm.ts'
import { executePlan } from '../batch/execute.ts'
import { type BatchPlan, makePlan, type PreviewRow } from '../batch/plan.ts'
import { countOf, planText, problemOf } from '../batch/preview.ts'
import { countsOf, type EndedBatch, endProblem, endText, whatText, whyNot } from '../batch/report.ts'
import { type BatchContext, wordOf } from '../batch/result.ts'
import { CANCEL } from '../cancel.ts'
import { RESUME } from '../resume.ts'
import { RETRY } from '../retry.ts'
import { SIGNAL } from '../signal.ts'
import { SUSPEND } from '../suspend.ts'
import { changeCommand, changeWords, type Events, eventsByStream, groups } from './change-command.ts'
import { awaitedIn, awaitedText, readSignal } from './signals.ts'
import { SKIP } from './skip.ts'

const VERBS = {
  cancel: CANCEL,
  abort: ABORT,
  retry: RETRY,
  suspend: SUSPEND,
  resume: RESUME,
  signal: SIGNAL,
  skip: SKIP,
} as const

/** The reason of a suspension for which none was typed: every suspension has one. */
const DEFAULT_REASON = 'suspended in the dashboard'

/** Changes of streams that have a batch command. */
type StreamVerb = keyof typeof VERBS

/** Plans a change as the command does, with the inspected states as preconditions. */
export async function prepareChange(
  name: StreamVerb,
  targets: readonly ChangeTarget[],
  opened: RuntimeStore,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<Prepared> {
  const first = await planOf(name, eventsByStream(targets), false, opened, runtime, signal)
  const withdrawn = await withdrawnOf(name, first, opened, signal)
  if (withdrawn === undefined) return prepared(name, targets, first, opened, runtime)
  const second = await planOf(name, withdrawn, true, opened, runtime, signal)
  return prepared(name, targets, second, opened, runtime)
}

interface Planned {
  readonly plan: BatchPlan
  readonly events: Events
  /** A retry of what was canceled on request. */
  readonly reopensCanceled: boolean
}

async function planOf(
  name: StreamVerb,
  events: Events,
  reopensCanceled: boolean,
  { store }: RuntimeStore,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<Planned> {
  const request = {
    action: transactAction(VERBS[name]),
    options: { names: [], by: runtime.actor, ...(reopensCanceled ? { reopenCanceled: true } : {}) },
    selection: { kind: 'names', names: [...events.keys()] },
    eventsOf: [...events.values()].every(ids => ids.length === 0)
      ? undefined
      : (stream: string) => events.get(stream) ?? [],
    // Of what cannot be skipped the refusal says why.
    leaveOut: !reopensCanceled && !isOwnHold(name, events) && name !== 'skip',
    keepRows: ROWS_LISTED,
    runtime,
  } as const
  return { plan: await makePlan(request, store, signal), events, reopensCanceled }
}

/** A single held stream is resumed: that it is left out of selections does not matter. */
function isOwnHold(name: string, events: Events): boolean {
  return name === 'resume' && events.size === 1
}

/**
 * The streams of a retry that finds no failure, as far as they were canceled on request: they are offered with that
 * word. A retry that reopens failures leaves them as they are.
 */
async function withdrawnOf(
  name: StreamVerb,
  { plan, events }: Planned,
  { store }: RuntimeStore,
  signal: AbortSignal,
): Promise<Events | undefined> {
  const isWhole = [...events.values()].every(ids => ids.length === 0)
  if (name !== 'retry' || plan.jobs.length > 0 || plan.leftOut === 0 || !isWhole) return undefined
  const names: string[] = []
  for await (const { found } of selected(store, { kind: 'names', names: [...events.keys()] }, signal)) {
    for (const { listed, summary } of found) if ((summary?.canceled ?? 0) > 0) names.push(listed.name)
  }
  return names.length === 0 ? undefined : new Map(names.map(each => [each, []]))
}

function prepared(
  name: StreamVerb,
  targets: readonly ChangeTarget[],
  planned: Planned,
  opened: RuntimeStore,
  runtime: Runtime,
): Prepared {
  const { plan, events, reopensCanceled } = planned
  const action = transactAction(VERBS[name])
  const count = plan.jobs.reduce((sum, job) => sum + job.targets.length, 0)
  const only = targets.length === 1 ? targets[0] : undefined
  return {
    preview: {
      verb: name,
      question: questionOf(name, action, only, planned, count),
      ...listOf(planned, action, only),
      count,
      command: (reason, given) =>
        changeCommand(name, events, { reason: reasonFor(name, reason), reopensCanceled, given }, runtime),
      confirm: confirmOf(plan.jobs.length, opened.isProtected),
      ...(name === 'signal' && { awaited: awaitedIn(plan.rows.map(({ item }) => item.summary)) }),
    },
    execute: executor(planned, action, targets.length > 1, opened, runtime),
  }
}

function questionOf(
  name: string,
  action: BatchAction,
  only: ChangeTarget | undefined,
  { plan, reopensCanceled }: Planned,
  count: number,
): string {
  if (count === 0) return `There is nothing to ${name}`
  const question = action.question(nameOf(only, plan))
  return reopensCanceled ? `${question}, canceled on request` : question
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
  { plan, events, reopensCanceled }: Planned,
  action: BatchAction,
  isBatch: boolean,
  { store }: RuntimeStore,
  runtime: Runtime,
): Prepared['execute'] {
  const commandId = runtime.newId()
  return async (typed, onOutcome, signal, given) => {
    checkText('reason', typed)
    const reason = reasonFor(action.name, typed)
    const options = {
      ...(given === undefined ? {} : await readSignal(given, runtime)),
      names: [],
      by: runtime.actor,
      ...(reason === '' ? {} : { reason }),
      ...(reopensCanceled ? { reopenCanceled: true } : {}),
    }
    const [group] = groups(events)
    const argv = group === undefined ? [] : changeWords(action.name, group, { reason, reopensCanceled, given })
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

function reasonFor(verb: string, typed: string): string {
  return typed === '' && verb === 'suspend' ? DEFAULT_REASON : typed
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
    : changeLines(changedOf(result, outcome, options), outcome.words ?? action.pastParticiple, runtime.nowMs())
  return lines.slice(1).map(line => line.trimStart())
}

/** Number of targets that the dialog lists; nobody scrolls further. */
export const ROWS_LISTED = 1_000

/** The targets, and why others are left out. Safe to print. */
function listOf(
  { plan, reopensCanceled }: Planned,
  action: BatchAction,
  only: ChangeTarget | undefined,
): Pick<Preview, 'affected' | 'more' | 'facts'> {
  const { rows, targets, missing, leftOut } = plan
  const table = tableOf(rows, action, reopensCanceled)
  const absent = missing.map(({ message }) => `not tried: ${visibleText(message)}`)
  if (only !== undefined) {
    const because = leftOut > 0 ? [`${targetName(only)} is ${[...plan.leftOutBecause.keys()].join()}`] : []
    return { affected: table, more: 0, facts: [...because, ...absent] }
  }
  const affected = [...table, ...absent].slice(0, ROWS_LISTED)
  const notThere = absent.length > 1 ? [`not tried: ${countText(absent.length)} that do not exist`] : absent
  return {
    affected,
    more: targets.length + absent.length - affected.length,
    facts: [planText(plan), ...notThere],
  }
}

function targetName({ stream, event }: ChangeTarget): string {
  return visibleText(event === undefined ? stream : `${event} of ${stream}`)
}

function tableOf(rows: readonly PreviewRow[], action: BatchAction, reopensCanceled: boolean): string[] {
  const withEvents = rows.some(({ target }) => target.event !== undefined)
  const cells = rows.map(row => [
    visibleName(row.target.stream),
    ...(withEvents ? [visibleText(row.target.event ?? '')] : []),
    problemOf(row) === undefined ? stateText(row.state) : '✗ not tried',
    effectOf(row, action, reopensCanceled),
  ])
  const columns = (cells[0] ?? []).map(() => ({ title: '' }))
  return tableRows(columns, cells, tableWidths(columns, cells)).map(line => line.trimEnd())
}

function stateText(state: string): string {
  const { glyph, word } = stateStyle(state)
  return `${glyph} ${word}`
}

/** What follows from it, or why it is left as it is. */
function effectOf(row: PreviewRow, { name }: BatchAction, reopensCanceled: boolean): string {
  const { target, item, openBelow } = row
  const why = problemOf(row)
  if (why !== undefined) return whyNot(why, target)
  if (name === 'signal') return awaitedText(item.summary)
  if (name === 'skip') return 'stays failed; what it blocks goes on'
  if (name === 'suspend' || name === 'resume') return item.summary ? suspensionText(item.summary) : ''
  if (name !== 'retry') return openBelow === 0 ? '' : `${counted(openBelow, 'open event')} below`
  if (target.event !== undefined) return ''
  const { failed = 0, canceled = 0 } = item.summary ?? {}
  if (reopensCanceled) return `${counted(canceled, 'canceled event')}`
  const left = canceled === 0 ? '' : `; ${counted(canceled, 'canceled event')} left as they are`
  return failed === 0 ? '' : `${counted(failed, 'failed event')}${left}`
}

/** Who suspended it and why, and how many events workers have. */
function suspensionText({ suspendedMs, suspendedBy, suspendedWhy, running }: Summary): string {
  if (suspendedMs !== undefined) return visibleText(`suspended by ${suspendedBy}: ${suspendedWhy}`)
  return running.length === 0 ? '' : `${counted(running.length, 'event')} at workers`
}

/** A planned change. */
export interface Prepared {
  readonly preview: Preview
  execute(
    reason: string,
    onOutcome: (outcome: Outcome) => void,
    signal: AbortSignal,
    given?: SignalText,
  ): Promise<ChangeEnd>
}

/** The runtime of the equivalent command. */
function changing(runtime: Runtime, argv: readonly string[], signal: AbortSignal): Runtime {
  return { ...runtime, argv, signal, kind: 'writes' }
}

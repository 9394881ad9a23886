import { CommandFailed } from '../../cli/problem.ts'
import { problemLines } from '../../cli/problem-text.ts'
import type { OpenedStore, Runtime } from '../../cli/runtime.ts'
import { changeLines } from '../../formats/change.ts'
import { checkText, visibleText } from '../../stream/text.ts'
import type { ChangeEnd, ChangeTarget, ChangeVerb, Outcome } from '../../tui/ports.ts'
import { ABORT } from '../abort.ts'
import type { Verb } from '../batch/action.ts'
import { confirmationFor } from '../batch/confirm.ts'
import { type EndedBatch, endProblem, endText } from '../batch/end.ts'
import { doPlan } from '../batch/execute.ts'
import { whatText } from '../batch/outcome-rows.ts'
import { makePlan, type Plan } from '../batch/plan.ts'
import { countOf, ROWS_SHOWN } from '../batch/preview.ts'
import { countsOf } from '../batch/progress.ts'
import { changedOf, isProblem, type Result, type Told, wordOf } from '../batch/result.ts'
import { transactVerb } from '../batch/transact-action.ts'
import { CANCEL } from '../cancel.ts'
import { RETRY } from '../retry.ts'
import { changeCommand, changeWords, groups } from './change-line.ts'
import { changing, eventsByStream, type Prepared } from './prepared.ts'
import { previewLines } from './preview-lines.ts'

const VERBS = { cancel: CANCEL, abort: ABORT, retry: RETRY } as const

/** Looks at what is to be changed as the command does, and pins it. */
export async function prepareChange(
  name: Exclude<ChangeVerb, 'break'>,
  targets: readonly ChangeTarget[],
  opened: OpenedStore,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<Prepared> {
  const verb = transactVerb(VERBS[name])
  const events = eventsByStream(targets)
  const request = {
    verb,
    options: { names: [], by: runtime.actor },
    selection: { kind: 'names', names: [...events.keys()] },
    eventsOf: [...events.values()].every(ids => ids.length === 0)
      ? undefined
      : (stream: string) => events.get(stream) ?? [],
    leaveOut: true,
    keepRows: ROWS_SHOWN,
  } as const
  const plan = await makePlan(request, opened.store, signal)
  const count = plan.jobs.reduce((sum, job) => sum + job.targets.length, 0)
  const only = targets.length === 1 ? targets[0] : undefined
  return {
    preview: {
      verb: name,
      question: count === 0 ? `There is nothing to ${name}` : verb.question(nameOf(only, plan)),
      lines: previewLines(plan, verb, only),
      count,
      command: reason => changeCommand(name, events, reason, runtime),
      confirm: confirmOf(plan.jobs.length, opened.isProtected),
      takesReason: true,
    },
    carryOut: carrier(plan, verb, events, targets.length > 1, opened, runtime),
  }
}

/** What is changed: the one by its name, several by their number. */
function nameOf(only: ChangeTarget | undefined, plan: Plan): string {
  if (only === undefined) return countOf(plan)
  const { stream, event } = only
  return visibleText(event === undefined ? stream : `${event} of ${stream}`)
}

function confirmOf(streams: number, isProtected: boolean): Prepared['preview']['confirm'] {
  const how = confirmationFor({ streams, isNamed: true, isProtected, asksAlways: true })
  return how === 'the number' ? { kind: 'type', text: String(streams), what: 'the number of streams' } : { kind: 'yes' }
}

/** One command id for all tries: what was done under it is not done twice. */
function carrier(
  plan: Plan,
  verb: Verb,
  events: ReadonlyMap<string, readonly string[]>,
  isBatch: boolean,
  { store }: OpenedStore,
  runtime: Runtime,
): Prepared['carryOut'] {
  const commandId = runtime.newId()
  return async (reason, onOutcome, signal) => {
    checkText('reason', reason)
    const options = { names: [], by: runtime.actor, ...(reason === '' ? {} : { reason }) }
    const [group] = groups(events)
    const argv = group === undefined ? [] : changeWords(verb.name, group, reason)
    const told: Told = { verb, options, runtime: changing(runtime, argv, signal) }
    const faults: string[] = []
    const ended = await doPlan(plan, { store, commandId, isBatch, rerunOf: undefined }, told, {
      began() {},
      onResult: result => onOutcome(outcomeOf(result, told)),
      onFault: message => void faults.push(visibleText(message)),
    })
    if ('exit' in ended) throw new CommandFailed(ended)
    return { lines: [...faults, ...(isBatch ? batchLines(ended, told) : singleLines(ended, told))] }
  }
}

function outcomeOf(result: Result, told: Told): Outcome {
  const { stream, event } = result.target
  return {
    target: event === undefined ? { stream } : { stream, event },
    word: wordOf(result),
    isGood: !isProblem(result.outcome),
    text: whatText(result, told),
  }
}

function batchLines(ended: EndedBatch, told: Told): ChangeEnd['lines'] {
  const rest = endProblem(ended, told)?.tryCommand
  return [
    endText(ended, countsOf(ended.results), told),
    ...(ended.runFile === undefined ? [] : [`run file: ${visibleText(ended.runFile)}`]),
    ...(rest === undefined ? [] : [`the rest: ${visibleText(rest)}`]),
  ]
}

/** What followed from it, or what to do about it. */
function singleLines({ results: [result] }: EndedBatch, { verb, options, runtime }: Told): ChangeEnd['lines'] {
  if (result === undefined) return ['not begun; nothing was changed']
  const { outcome } = result
  const lines = isProblem(outcome)
    ? problemLines(outcome, runtime.nowMs())
    : changeLines(changedOf(result, outcome, options), verb.word, runtime.nowMs())
  return lines.slice(1).map(line => line.trimStart())
}

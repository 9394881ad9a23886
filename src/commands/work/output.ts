import { errorProblem } from '../../cli/error-problem.ts'
import { OutputQueue } from '../../cli/output/queue.ts'
import type { Output } from '../../cli/output.ts'
import { tellProblem } from '../../cli/problem-text.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { jsonLine, jsonTime, orNull } from '../../formats/json.ts'
import { counted, span } from '../../formats/terminal/numbers.ts'
import { missingStreamText } from '../../store/names.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import { fateText } from '../../worker/program/result.ts'
import type { ProgramRun } from '../../worker/program/run.ts'
import type { GivenUp, Job, LoopReport, SelfReported, WorkerEvent, WorkOutcome } from '../../worker/types.ts'
import { isAgain } from '../../worker/work-event.ts'
import type { WorkCommandOptions } from './options.ts'

type Claimed = Exclude<WorkOutcome, { readonly kind: 'not-claimed' }>

/** Reports what the worker does, in order. */
export class WorkReporter {
  /** The last event worked on. */
  last: { readonly outcome: Claimed; readonly ran: ProgramRun | undefined } | undefined
  /** The last event that was failed instead of worked on. */
  givenUp: GivenUp | undefined
  readonly #options: WorkCommandOptions
  readonly #output: Output
  readonly #runtime: Runtime
  readonly #started = new Map<string, { readonly startedMs: number; run?: ProgramRun }>()
  readonly #queue = new OutputQueue()

  constructor(options: WorkCommandOptions, output: Output, runtime: Runtime) {
    this.#options = options
    this.#output = output
    this.#runtime = runtime
  }

  /** Resolves when everything is written. */
  flush(): Promise<void> {
    return this.#queue.flush()
  }

  /** Waits while the reader of the output is too slow. */
  room(): Promise<void> {
    return this.#queue.room(this.#runtime.signal)
  }

  /** Reports that a command was not started, as its input could not be made. */
  readonly fault = (job: Job, error: unknown): void => {
    this.observe({ kind: 'fault', stream: job.stream, event: job.event.id, error })
  }

  readonly ran = (job: Job, run: ProgramRun): void => {
    const started = this.#started.get(keyOf(job))
    if (started !== undefined) started.run = run
  }

  readonly observe = (event: WorkerEvent): void => {
    const { nowMs } = this.#runtime
    switch (event.kind) {
      case 'started':
        this.#started.set(keyOf(event.job), { startedMs: nowMs() })
        if (this.#options.output !== 'ndjson') this.#say(startedText(event.job))
        if (event.job.limitWarning !== undefined) this.#say(limitText(event.job, event.job.limitWarning))
        return
      case 'outcome':
        if (event.outcome.kind !== 'not-claimed') this.#ended(event.outcome, event.ownEnd)
        return
      case 'given-up':
        this.givenUp = event
        this.#report(givenUp(event))
        return
      case 'fault':
        this.#fault(event)
        return
      case 'interrupted':
        this.#say('the store does not answer; trying again')
        return
      case 'resumed':
        this.#say('the store answers again')
        return
      default:
        event satisfies never
    }
  }

  #ended(outcome: Claimed, ownEnd: SelfReported | undefined): void {
    const key = keyOf(outcome.job)
    const started = this.#started.get(key)
    this.#started.delete(key)
    const endedMs = this.#runtime.nowMs()
    this.last = { outcome, ran: started?.run }
    this.#report(endedFrom(outcome, { startedMs: started?.startedMs ?? endedMs, endedMs, run: started?.run, ownEnd }))
  }

  #report(what: Ended): void {
    if (this.#options.output === 'ndjson') this.#print(endedLine(what))
    else this.#say(endedText(what))
  }

  #fault({ stream, event, error }: Extract<WorkerEvent, { kind: 'fault' }>): void {
    const what = errorProblem(error, this.#runtime)
    const where = { ...(stream === undefined ? {} : { stream }), ...(event === undefined ? {} : { event }) }
    this.#queue.add(what.message.length, () => tellProblem({ ...where, ...what }, this.#options, this.#runtime))
  }

  #print(line: string): void {
    this.#queue.add(line.length, () => this.#output.text(line))
  }

  #say(sentence: string): void {
    this.#queue.add(sentence.length, () => this.#output.say(sentence))
  }
}

function keyOf({ stream, event, fence }: Job): string {
  return `${stream}\n${event.id}\n${fence}`
}

/** Characters of a message on one line. */
const MESSAGE_LENGTH = 200

/** `started    orders/4711 01.00 Pay, attempt 2` */
function startedText({ stream, event, attempt }: Job): string {
  const again = attempt > 1 ? `, attempt ${attempt}` : ''
  return line('started', stream, event.id, `${visibleText(event.name)}${again}`)
}

/** A warning that the event's own timeout may end it during the work. */
function limitText({ stream, event }: Job, warning: string): string {
  return line('warning', stream, event.id, `${visibleText(event.name)}: ${warning}`)
}

/** `completed  orders/4711 01.00 Pay in 12s: 12 results` */
function endedText({ outcome, stream, event, name, tookMs, code, message }: Ended): string {
  const took = tookMs === undefined ? '' : ` in ${tookMs < 10_000 ? `${(tookMs / 1_000).toFixed(1)}s` : span(tookMs)}`
  const why = [code, message === undefined ? undefined : firstLine(message)].filter(
    text => text !== undefined && text !== '',
  )
  const rest = `${visibleText(name ?? '')}${took}${why.length === 0 ? '' : `: ${why.join(': ')}`}`
  return line(outcome, stream, event, rest)
}

/** A sentence about the work of a loop. */
export function reportText(report: LoopReport): string {
  const { claimed, completed, failed, again, released, lost, givenUp, faults, locked } = report
  const parts = [
    [completed, 'done'],
    [failed, 'failed'],
    [again, 'to be tried again'],
    [released, 'handed back'],
    [lost, 'lost'],
  ] as const
  const counts = parts.flatMap(([count, word]) => (count === 0 ? [] : [`${count} ${word}`]))
  const besides = [
    ...(givenUp === 0 ? [] : [`${counted(givenUp, 'event')} given up`]),
    ...(faults === 0 ? [] : [counted(faults, 'fault')]),
    ...(locked === 0 ? [] : [`${counted(locked, 'stream')} skipped, leased until released or broken`]),
  ]
  if (claimed > 0) besides.unshift(`worked on ${counted(claimed, 'event')}: ${counts.join(', ')}`)
  return besides.length === 0 ? 'nothing to do' : besides.join('; ')
}

/** One line of `-o ndjson`. */
function endedLine({ run, startedMs, tookMs, ...ended }: Ended): string {
  const { fate } = run ?? {}
  return jsonLine({
    stream: ended.stream,
    event: ended.event,
    name: orNull(ended.name),
    outcome: ended.outcome,
    attempt: ended.attempt,
    attemptKey: orNull(ended.attemptKey),
    owner: orNull(ended.owner),
    fence: ended.fence ?? null,
    exit: fate?.kind === 'exited' ? fate.code : null,
    signal: fate?.kind === 'killed' ? fate.signal : null,
    code: orNull(ended.code),
    message: orNull(ended.message),
    startedAt: jsonTime(startedMs),
    tookMs: tookMs === undefined ? null : Math.round(tookMs),
    version: ended.version ?? null,
    added: ended.added ?? [],
    done: ended.done ?? false,
  })
}

function line(word: string, stream: string, event: string, rest: string): string {
  return `${word.padEnd(10)} ${visibleName(stream)} ${visibleText(event)} ${rest}`.trimEnd()
}

export function firstLine(text: string): string {
  const [first = ''] = text.trim().split('\n', 1)
  return visibleText([...first.slice(0, 2 * MESSAGE_LENGTH)].slice(0, MESSAGE_LENGTH).join(''))
}

/** The outcome of an event, for the output. */
interface Ended {
  readonly stream: string
  readonly event: string
  readonly name?: string
  readonly owner?: string
  readonly fence?: number
  readonly attempt: number
  readonly attemptKey?: string
  readonly outcome: 'completed' | 'advanced' | 'failed' | 'again' | 'released' | 'lost' | 'unreported' | 'given-up'
  /** The error code, if it was lost or not reported. */
  readonly code?: string
  /** For people: the failure or the outcome. */
  readonly message?: string | undefined
  readonly run?: ProgramRun | undefined
  readonly startedMs?: number
  readonly tookMs?: number
  readonly version?: number
  readonly added?: readonly string[]
  /** The stream ended with it. */
  readonly done?: boolean
}

/** Facts about the run that the outcome lacks. */
export interface RunDetails {
  readonly startedMs: number
  readonly endedMs: number
  readonly run: ProgramRun | undefined
  /** The change that the command made to its event itself. */
  readonly ownEnd: SelfReported | undefined
}

const WORDS = { complete: 'completed', advance: 'advanced', fail: 'failed', release: 'released' } as const

function endedFrom(outcome: Claimed, { startedMs, endedMs, run, ownEnd }: RunDetails): Ended {
  return {
    ...ofJob(outcome.job),
    run,
    startedMs,
    tookMs: Math.max(0, endedMs - startedMs),
    ...(ownEnd === undefined ? specific(outcome) : ofOwn(ownEnd)),
    ...(run?.fate.kind === 'not-started' ? { message: fateText(run.fate) } : {}),
  }
}

function ofJob({ stream, event, owner, fence, attempt, attemptKey }: Job) {
  return { stream, event: event.id, name: event.name, owner, fence, attempt, attemptKey }
}

function ofOwn({ op, msg, version, added, done, isAgain }: SelfReported) {
  return { outcome: isAgain === true ? ('again' as const) : WORDS[op], message: msg, version, added, done }
}

function specific(outcome: Claimed): Pick<Ended, 'outcome'> & Partial<Ended> {
  switch (outcome.kind) {
    case 'reported': {
      const { ending, result } = outcome
      const message = 'msg' in ending ? ending.msg : undefined
      const { version, added, done } = result
      return { outcome: isAgain(result) ? 'again' : WORDS[ending.op], message, version, added, done }
    }
    case 'lost':
      return { outcome: 'lost', code: outcome.lost.code, message: outcome.lost.message }
    case 'unreported': {
      const { undone, job } = outcome
      if (undone.kind === 'missing') {
        return { outcome: 'unreported', code: undone.kind, message: missingStreamText(job.stream, undone.isReplaced) }
      }
      if (undone.kind !== 'refused') return { outcome: 'unreported', code: undone.kind }
      return { outcome: 'unreported', code: undone.refusal.code, message: undone.refusal.message }
    }
    default:
      return outcome satisfies never
  }
}

function givenUp({ kind: outcome, ...event }: GivenUp): Ended {
  return { ...event, outcome }
}

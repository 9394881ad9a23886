import { errorProblem } from '../../cli/error-problem.ts'
import type { Output } from '../../cli/output.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { tellProblem } from '../../cli/tell-problem.ts'
import type { Job } from '../../worker/job.ts'
import type { ProgramRun } from '../../worker/program/run.ts'
import type { Happening, OwnEnd } from '../../worker/types.ts'
import type { WorkOutcome } from '../../worker/work-outcome.ts'
import { type Ended, endedFrom, givenUp } from './ended.ts'
import { endedLine, endedText, limitText, startedText } from './lines.ts'
import type { WorkCommandOptions } from './options.ts'

type Claimed = Exclude<WorkOutcome, { readonly kind: 'not-claimed' }>

/** Tells what happens, in the order in which it happens. */
export class Teller {
  /** The last event that was worked on. */
  last: { readonly outcome: Claimed; readonly ran: ProgramRun | undefined } | undefined
  readonly #options: WorkCommandOptions
  readonly #output: Output
  readonly #runtime: Runtime
  readonly #began = new Map<string, { readonly startedMs: number; run?: ProgramRun }>()
  #written = Promise.resolve()

  constructor(options: WorkCommandOptions, output: Output, runtime: Runtime) {
    this.#options = options
    this.#output = output
    this.#runtime = runtime
  }

  /** Everything was written. */
  settled(): Promise<void> {
    return this.#written
  }

  /** What an event's command is to read; told if there is none. */
  async input(job: Job, text: Promise<string>): Promise<string | undefined> {
    try {
      return await text
    } catch (error) {
      this.observe({ kind: 'fault', stream: job.stream, event: job.event.id, error })
      return undefined
    }
  }

  readonly ran = (job: Job, run: ProgramRun): void => {
    const began = this.#began.get(keyOf(job))
    if (began !== undefined) began.run = run
  }

  readonly observe = (happening: Happening): void => {
    const { nowMs } = this.#runtime
    switch (happening.kind) {
      case 'started':
        this.#began.set(keyOf(happening.job), { startedMs: nowMs() })
        if (this.#options.output !== 'ndjson') this.#say(startedText(happening.job))
        if (happening.job.limitWarning !== undefined) this.#say(limitText(happening.job, happening.job.limitWarning))
        return
      case 'outcome':
        if (happening.outcome.kind !== 'not-claimed') this.#ended(happening.outcome, happening.ownEnd)
        return
      case 'given-up':
        this.#tell(givenUp(happening.stream, happening.event, happening.attempts))
        return
      case 'fault':
        this.#fault(happening)
        return
      case 'interrupted':
        this.#say('the store does not answer; it is asked again')
        return
      case 'resumed':
        this.#say('the store answers again')
        return
      default:
        happening satisfies never
    }
  }

  #ended(outcome: Claimed, ownEnd: OwnEnd | undefined): void {
    const key = keyOf(outcome.job)
    const began = this.#began.get(key)
    this.#began.delete(key)
    const endedMs = this.#runtime.nowMs()
    this.last = { outcome, ran: began?.run }
    this.#tell(endedFrom(outcome, { startedMs: began?.startedMs ?? endedMs, endedMs, run: began?.run, ownEnd }))
  }

  #tell(what: Ended): void {
    if (this.#options.output === 'ndjson') this.#then(() => this.#output.text(endedLine(what)))
    else this.#say(endedText(what))
  }

  #fault({ stream, event, error }: Extract<Happening, { kind: 'fault' }>): void {
    const what = errorProblem(error, this.#runtime)
    const where = { ...(stream === undefined ? {} : { stream }), ...(event === undefined ? {} : { event }) }
    this.#then(() => tellProblem({ ...where, ...what }, this.#options, this.#runtime))
  }

  #say(sentence: string): void {
    this.#then(() => this.#output.say(sentence))
  }

  #then(write: () => Promise<void>): void {
    this.#written = this.#written.then(write).catch(() => undefined)
  }
}

function keyOf({ stream, event, fence }: Job): string {
  return `${stream}\n${event.id}\n${fence}`
}

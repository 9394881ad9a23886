import { goneText } from '../../worker/gone-text.ts'
import type { Job } from '../../worker/job.ts'
import { fateText } from '../../worker/program/result.ts'
import type { ProgramRun } from '../../worker/program/run.ts'
import type { OwnEnd } from '../../worker/types.ts'
import type { WorkOutcome } from '../../worker/work-outcome.ts'

/** What became of an event, as it is told. */
export interface Ended {
  readonly stream: string
  readonly event: string
  readonly name: string | undefined
  readonly owner: string | undefined
  readonly fence: number | undefined
  readonly attempt: number | undefined
  readonly attemptKey: string | undefined
  readonly outcome: 'completed' | 'advanced' | 'failed' | 'released' | 'lost' | 'unreported' | 'given-up'
  /** Why it was lost or not reported. */
  readonly code: string | undefined
  /** For people: what it failed with, or what became of it. */
  readonly message: string | undefined
  readonly run: ProgramRun | undefined
  readonly startedMs: number | undefined
  readonly tookMs: number | undefined
  readonly version: number | undefined
  readonly added: readonly string[]
  /** The stream ended with it. */
  readonly done: boolean
}

/** How it ran: what the outcome does not say. */
export interface Course {
  readonly startedMs: number
  readonly endedMs: number
  readonly run: ProgramRun | undefined
  /** What the command did to its event itself. */
  readonly ownEnd: OwnEnd | undefined
}

type Claimed = Exclude<WorkOutcome, { readonly kind: 'not-claimed' }>

const WORDS = { complete: 'completed', advance: 'advanced', fail: 'failed', release: 'released' } as const

export function endedFrom(outcome: Claimed, { startedMs, endedMs, run, ownEnd }: Course): Ended {
  return {
    ...ofJob(outcome.job),
    code: undefined,
    message: undefined,
    version: undefined,
    added: [],
    done: false,
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

function ofOwn({ op, msg, version, added, done }: OwnEnd) {
  return { outcome: WORDS[op], message: msg, version, added, done }
}

function specific(outcome: Claimed): Pick<Ended, 'outcome'> & Partial<Ended> {
  switch (outcome.kind) {
    case 'reported': {
      const { ending, result } = outcome
      const message = 'msg' in ending ? ending.msg : undefined
      const { version, added, done } = result
      return { outcome: WORDS[ending.op], message, version, added, done }
    }
    case 'lost':
      return { outcome: 'lost', code: outcome.lost.code, message: outcome.lost.message }
    case 'unreported': {
      const { undone, job } = outcome
      if (undone.kind === 'missing') {
        return { outcome: 'unreported', code: undone.kind, message: goneText(job.stream, undone.isReplaced) }
      }
      if (undone.kind !== 'refused') return { outcome: 'unreported', code: undone.kind }
      return { outcome: 'unreported', code: undone.refusal.code, message: undone.refusal.message }
    }
    default:
      return outcome satisfies never
  }
}

export function givenUp(stream: string, event: string, attempts: number): Ended {
  return {
    stream,
    event,
    name: undefined,
    owner: undefined,
    fence: undefined,
    attempt: attempts,
    attemptKey: undefined,
    outcome: 'given-up',
    code: undefined,
    message: `tried ${attempts} times, and each time its worker went silent`,
    run: undefined,
    startedMs: undefined,
    tookMs: undefined,
    version: undefined,
    added: [],
    done: false,
  }
}

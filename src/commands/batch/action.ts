import { createHash } from 'node:crypto'
import { type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { SummarizedStream } from '../../ops/summaries.ts'
import type { TransactOutcome } from '../../ops/transact/transact.ts'
import type { StreamStore } from '../../store/store.ts'
import type { Precondition } from '../../stream/operations/apply.ts'
import { encodeCommandId } from '../../stream/text.ts'
import type { LeavesOut, SignedOptions } from './options.ts'

export type Done = Extract<TransactOutcome, { kind: 'done' }>

/** What an action needs to know of the one target that it changes. */
export interface TargetChange {
  readonly target: Target
  readonly commandId: string
  /** The state that was previewed; nothing where there was no preview. */
  readonly pin: Precondition
  readonly etag?: string
  readonly version?: number | undefined
  readonly store: StreamStore
  readonly options: SignedOptions
  readonly runtime: Runtime
}

/** What a batch does to each target, and the words for it: a new command is a new action. */
export interface BatchAction {
  readonly name: string
  /** What is asked about: `This cancels 58 streams`. */
  readonly question: (what: string) => string
  /** `canceled`: for the line that says so. */
  readonly pastParticiple: string
  /** Asks even for one stream by its name. */
  readonly asksAlways?: boolean
  readonly leavesOut?: LeavesOut
  /** Why a target is not even tried; that is its outcome then. */
  readonly objection: (item: SummarizedStream, options: SignedOptions) => Problem | undefined
  /** What it means that a stream of a run file is gone; without it that stream is missing. */
  readonly gone?: Done
  readonly change: (change: TargetChange) => Promise<Done | Problem>
  /** Stands behind the outcome in texts. */
  readonly note?: (options: SignedOptions) => string
  /** Further fields of each outcome in JSON. */
  readonly fields?: (options: SignedOptions) => object
}

/** Why a document that cannot be read is left as it is. */
export function unreadable({ listed, fault }: SummarizedStream): Problem | undefined {
  return (
    fault &&
    problem(fault.code, fault.message, { stream: listed.name, hint: fault.hint ?? 'show -o xml prints it as it is.' })
  )
}

/** One change of a batch: a stream, or one event of it. */
export interface Target {
  readonly stream: string
  readonly event: string | undefined
}

/** A stream as a whole, or these events of it. */
export function targetsOf(stream: string, events: readonly string[]): Target[] {
  return events.length === 0 ? [{ stream, event: undefined }] : events.map(event => ({ stream, event }))
}

/** Each change of a batch has an id of its own, made from the command's: so repeating the batch is safe too. */
export function targetCommandId(commandId: string, { stream, event }: Target, batch: boolean): string {
  if (!batch) return commandId
  const id = `${commandId}/${event === undefined ? stream : `${stream}:${event}`}`
  try {
    return encodeCommandId(id)
  } catch {
    return `${commandId.slice(0, 160)}/${createHash('sha256').update(id).digest('hex').slice(0, 32)}`
  }
}

/** The pin of a stream's first change: as it was previewed, or at the version that `--if-version` names. */
export function firstPin(previewed: Precondition, ifVersion: number | undefined): Precondition {
  if (ifVersion === undefined) return previewed
  return { ifVersion, ...(previewed.ifBorn === undefined ? {} : { ifBorn: previewed.ifBorn }) }
}

/** The pin of the next change of the same stream: our own change before it is no surprise. */
export function pinAfter(pin: Precondition, outcome: Done | Problem): Precondition {
  if ('exit' in outcome || outcome.result.outcome === 'already') return pin
  // A stream that had no identity of its own was given one.
  const born = pin.ifBorn === undefined || pin.ifBorn === '' ? {} : { ifBorn: pin.ifBorn }
  return { ifVersion: outcome.result.version, ...born }
}

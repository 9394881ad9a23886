import { createHash } from 'node:crypto'
import { type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { SummarizedStream } from '../../ops/summaries.ts'
import type { TransactOutcome } from '../../ops/transact/transact.ts'
import type { StreamStore } from '../../store/store.ts'
import type { Precondition } from '../../stream/precondition.ts'
import { encodeCommandId } from '../../stream/text.ts'
import type { LeavesOut, SignedOptions } from './options.ts'

export type Done = Extract<TransactOutcome, { kind: 'done' }>

/** The input for changing one target. */
export interface TargetChange {
  readonly target: Target
  readonly commandId: string
  /** The previewed state; empty without a preview. */
  readonly pin: Precondition
  readonly etag?: string
  readonly version?: number | undefined
  readonly store: StreamStore
  readonly options: SignedOptions
  readonly runtime: Runtime
}

/** What a batch does to each target, with its wording. A new command is a new action. */
export interface BatchAction {
  readonly name: string
  /** The question: `This cancels 58 streams`. */
  readonly question: (what: string) => string
  /** For the output: `canceled`. */
  readonly pastParticiple: string
  /** Asks even for a single named stream. */
  readonly asksAlways?: boolean
  readonly leavesOut?: LeavesOut
  /** Why a target is not tried; this becomes its outcome. */
  readonly objection: (item: SummarizedStream, options: SignedOptions) => Problem | undefined
  /** The outcome of a stream in a run file that no longer exists; without it that stream is missing. */
  readonly gone?: Done
  readonly change: (change: TargetChange) => Promise<Done | Problem>
  /** A note after the outcome in texts. */
  readonly note?: (options: SignedOptions) => string
  /** Further fields of each outcome in JSON. */
  readonly fields?: (options: SignedOptions) => object
}

/** The problem of an unreadable document; `undefined` if it can be read. */
export function unreadable({ listed, fault }: SummarizedStream): Problem | undefined {
  return (
    fault &&
    problem(fault.code, fault.message, { stream: listed.name, hint: fault.hint ?? 'show -o xml prints it as stored.' })
  )
}

/** The target of one change: a stream, or one event of it. */
export interface Target {
  readonly stream: string
  readonly event: string | undefined
}

/** The targets in a stream: these events, or without events the whole stream. */
export function targetsOf(stream: string, events: readonly string[]): Target[] {
  return events.length === 0 ? [{ stream, event: undefined }] : events.map(event => ({ stream, event }))
}

/** The command id of one change, derived from the id of the batch, so that repeating the batch is safe. */
export function targetCommandId(commandId: string, { stream, event }: Target, batch: boolean): string {
  if (!batch) return commandId
  const id = `${commandId}/${event === undefined ? stream : `${stream}:${event}`}`
  try {
    return encodeCommandId(id)
  } catch {
    return `${commandId.slice(0, 160)}/${createHash('sha256').update(id).digest('hex').slice(0, 32)}`
  }
}

/** The precondition of the first change of a stream: the previewed state, or the version of `--if-version`. */
export function firstPin(previewed: Precondition, ifVersion: number | undefined): Precondition {
  if (ifVersion === undefined) return previewed
  return { ifVersion, ...(previewed.ifBorn === undefined ? {} : { ifBorn: previewed.ifBorn }) }
}

/** The precondition of the next change of the same stream, after our own change. */
export function pinAfter(pin: Precondition, outcome: Done | Problem): Precondition {
  if ('exit' in outcome || outcome.result.outcome === 'already') return pin
  // The change gave an incarnation id to a stream without one.
  const born = pin.ifBorn === undefined || pin.ifBorn === '' ? {} : { ifBorn: pin.ifBorn }
  return { ifVersion: outcome.result.version, ...born }
}

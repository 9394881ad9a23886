import { createHash } from 'node:crypto'
import { outcomeProblem } from '../../cli/outcome-problem.ts'
import { type Problem, problem, UNREADABLE_HINT } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { transactOptions } from '../../cli/store.ts'
import type { Changed } from '../../formats/change.ts'
import type { StreamView } from '../../ops/read-stream.ts'
import { type SummarizedStream, summaryOf } from '../../ops/read-summary.ts'
import { type OperationResult, tryOperation } from '../../ops/transact/plan.ts'
import { type TransactOutcome, transact } from '../../ops/transact/transact.ts'
import type { LeaseView, StreamStore } from '../../store/store.ts'
import type { StreamDocument } from '../../stream/document.ts'
import type { Precondition } from '../../stream/operations/apply.ts'
import type { ChangeResult } from '../../stream/operations/operation.ts'
import { encodeCommandId } from '../../stream/text.ts'
import { defined } from '../../util/defined.ts'
import type { AuditedAs } from './audit.ts'
import type { LeavesOut, SignedOptions, TransactCommand } from './options.ts'

export interface Done extends Extract<TransactOutcome, { kind: 'done' }> {
  /** What was done, in place of the action's past participle. */
  readonly words?: string
  /** Further fields of this outcome in JSON. */
  readonly fields?: object
}

/** The input for changing one target. */
export interface TargetChange {
  readonly target: Target
  readonly commandId: string
  /** The previewed state; empty without a preview. */
  readonly pin: Precondition
  readonly etag?: string
  readonly version?: number | undefined
  /** The previewed lease; absent without a preview. */
  readonly lease?: LeaseView
  readonly store: StreamStore
  readonly options: SignedOptions
  readonly runtime: Runtime
}

/** The input for trying the change of one target without writing. */
export interface TargetTrial {
  readonly target: Target
  readonly commandId: string
  /** The document that was read, with the changes of earlier targets. */
  readonly document: StreamDocument
  readonly view: StreamView
  readonly options: SignedOptions
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
  /** A single stream is confirmed by typing its name. */
  readonly confirmsByName?: boolean
  /** The stream in the text of a preview, in place of the columns of `ls`. */
  readonly previewLine?: (item: SummarizedStream, nowMs: number) => string
  readonly leavesOut?: LeavesOut
  /** Begins and ends of its batches are entries in the audit log, under this name. */
  readonly audit?: AuditedAs
  /** Why a target is not tried; this becomes its outcome. */
  readonly objection: (item: SummarizedStream, options: SignedOptions) => Done | Problem | undefined
  /** The result that the change of a target would have in this document. */
  readonly trial?: (trial: TargetTrial) => OperationResult
  /** The outcome of a stream that no longer exists, in a run file or a repeated run; without it that stream is missing. */
  readonly gone?: Done
  /** The action when the store knows of an earlier run with its command id; `undefined` if this is the first. */
  readonly repeated?: (store: StreamStore, commandId: string) => Promise<BatchAction | undefined>
  /** The store knows of an earlier run: what does not exist any more is its work. */
  readonly isRepeated?: boolean
  readonly change: (change: TargetChange) => Promise<Done | Problem>
  /** What the change did to other events; by default their number. */
  readonly consequence?: (result: ChangeResult) => string | undefined
  /** A note after the outcome in texts. */
  readonly note?: (options: SignedOptions) => string
  /** Further fields of each outcome in JSON. */
  readonly fields?: (options: SignedOptions) => object
}

/** The outcome of one target. */
export interface Result {
  readonly target: Target
  readonly commandId: string
  readonly outcome: Done | Problem
}

export function isProblem(outcome: Done | Problem): outcome is Problem {
  return 'exit' in outcome
}

/** The change of a target for the formats. */
export function changedOf({ target, commandId }: Result, { result }: Done, { reason }: SignedOptions): Changed {
  return { ...target, result, commandId, reason }
}

/** The problem of an unreadable document; `undefined` if it can be read. */
export function unreadable({ listed, fault }: SummarizedStream): Problem | undefined {
  return fault && problem(fault.code, fault.message, { stream: listed.name, hint: fault.hint ?? UNREADABLE_HINT })
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
  if (isProblem(outcome) || outcome.result.outcome === 'already') return pin
  // The change gave an incarnation id to a stream without one.
  const born = pin.ifBorn === undefined || pin.ifBorn === '' ? {} : { ifBorn: pin.ifBorn }
  return { ifVersion: outcome.result.version, ...born }
}

/** The action of a command that makes one transaction in each target. */
export function transactAction(command: TransactCommand): BatchAction {
  const {
    name,
    thirdPerson,
    pastParticiple,
    leavesOut,
    isTriedFirst = false,
    pinsLifeOnly = false,
    operation,
    consequence,
    report,
  } = command
  const operationOn = ({ event }: Target, options: SignedOptions) =>
    operation(event === undefined ? {} : { event }, options)
  return {
    name,
    question: what => `This ${thirdPerson} ${what}`,
    pastParticiple,
    leavesOut,
    objection: unreadable,
    ...defined({ consequence }),
    ...(isTriedFirst
      ? {
          trial: ({ target, commandId, document, view, options }) =>
            tryOperation(
              operationOn(target, options),
              { commandId, by: options.by },
              document,
              view.stored,
              view.nowMs,
            ),
        }
      : {}),
    async change(change) {
      const { target, commandId, store, options, runtime } = change
      const { stream, event } = target
      const purpose = event === undefined ? name : `${name} ${event}`
      const how = transactOptions(options, commandId, purpose, runtime)
      const what = operationOn(target, options)
      const attempt = (pin: Precondition) => transact(store, stream, what, { ...how, ...pin })
      const first = await attempt(pinsLifeOnly ? lifeOf(change.pin) : change.pin)
      const pin = isChanged(first) ? await pinOfSameBytes(change) : undefined
      const outcome = pin === undefined ? first : await attempt(pin)
      if (outcome.kind === 'done') return { ...outcome, ...report?.(outcome.result) }
      return outcomeProblem(stream, outcome, commandId, runtime)
    },
  }
}

/** The same incarnation, in any state; a version that the user gave counts. */
function lifeOf({ ifBorn = '' }: Precondition): Precondition {
  return ifBorn === '' ? {} : { ifBorn }
}

function isChanged(outcome: TransactOutcome): boolean {
  return outcome.kind === 'refused' && outcome.refusal.code === 'changed'
}

/**
 * A copied document can contain a foreign write that no transaction has recorded. The precondition from a listing does not
 * include that write; if the bytes are still those of the listing, the preview did.
 */
async function pinOfSameBytes({
  target,
  pin,
  etag,
  store,
  options,
  runtime,
}: TargetChange): Promise<Precondition | undefined> {
  if (etag === undefined || pin.ifSum !== undefined || options.ifVersion !== undefined) return undefined
  const now = await summaryOf(store, { name: target.stream }, runtime.signal)
  return now?.listed.etag === etag && now.fault === undefined ? now.pin : undefined
}

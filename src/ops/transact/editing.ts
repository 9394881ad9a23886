import type { StreamDocument } from '../../stream/document.ts'
import { InvalidValue, LeasectlError } from '../../stream/errors.ts'
import { type Applied, applyOperation } from '../../stream/operations/apply.ts'
import type { ChangeResult, Operation, Refusal } from '../../stream/operations/operation.ts'
import { checkOperation } from './check-operation.ts'
import { type CurrentState, type PlannedOperation, roomIn } from './plan.ts'

/** So many steps an edit may have at most; fewer in a large stream. */
export const MAX_STEPS = 100

/** The command id of a step, from 1 on. */
export function stepId(commandId: string, step: number): string {
  return `${commandId}/${step}`
}

/** A step of an edit was refused. Whoever catches it gains nothing: the whole edit is refused. */
class StepRefused extends LeasectlError {
  readonly code: string

  constructor({ code, message }: Refusal) {
    super(message)
    this.code = code
  }
}

/** The working document of an edit: each step is applied to what the one before left. */
export class Editing {
  readonly nowMs: number
  /** When the store last wrote the stream, epoch ms. */
  readonly modifiedMs: number
  /** The highest version that stands beside it. */
  readonly versionFloor: number
  readonly results: ChangeResult[] = []
  /** Why the edit is refused; no further step is taken then. */
  refusal: Refusal | undefined
  document: StreamDocument
  readonly #current: CurrentState
  readonly #planned: PlannedOperation
  readonly #original: StreamDocument
  #numbered = 0
  #ended = false

  constructor(document: StreamDocument, current: CurrentState, nowMs: number, planned: PlannedOperation) {
    this.document = document
    this.nowMs = nowMs
    this.modifiedMs = current.modifiedMs ?? nowMs
    this.versionFloor = current.versionFloor
    this.#original = document
    this.#current = current
    this.#planned = planned
  }

  /** Takes a step. @throws InvalidValue what can never be right; an error that ends the edit if the step is refused */
  apply(operation: Operation): ChangeResult {
    if (this.#ended) throw new InvalidValue('the change of the stream has ended; no step can be added to it')
    if (this.refusal === undefined) {
      const applied = this.#step(operation)
      if (applied.kind !== 'refused') return this.#taken(operation, applied)
      this.refusal = applied.refusal
    }
    throw new StepRefused(this.refusal)
  }

  /** No step is accepted any more. */
  end(): void {
    this.#ended = true
  }

  #step(operation: Operation): Applied {
    const { author, pin, born, nonce } = this.#planned
    const { modifiedMs, name = 'stream' } = this.#current
    const step = { ...author, commandId: stepId(author.commandId, this.#numbered + 1) }
    checkOperation(name, operation, step)
    const room = Math.min(MAX_STEPS, roomIn(this.document))
    if (this.results.length >= room) {
      throw new InvalidValue(`one change takes at most ${room} steps in a stream of this size; make several of it`)
    }
    return applyOperation(this.document, operation, step, {
      nowMs: this.nowMs,
      versionFloor: this.versionFloor,
      born: pin.ifBorn || born,
      nonce,
      // Of what was looked at, which the first step changes.
      ...(this.document === this.#original ? pin : {}),
      ...(modifiedMs === undefined ? {} : { lastModifiedMs: modifiedMs }),
    })
  }

  #taken({ op }: Operation, applied: Exclude<Applied, { kind: 'refused' }>): ChangeResult {
    this.results.push(applied.result)
    if (applied.kind === 'changed') {
      this.document = applied.document
      // A heartbeat leaves no entry: a number of its own would be missing in the journal.
      if (op !== 'touch') this.#numbered += 1
    }
    return applied.result
  }
}

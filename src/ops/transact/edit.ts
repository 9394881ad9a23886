import { checkStreamName } from '../../store/names.ts'
import type { StreamStore } from '../../store/store.ts'
import type { EventData } from '../../stream/data.ts'
import type { StreamDocument } from '../../stream/document.ts'
import { InvalidValue, LeasectlError } from '../../stream/errors.ts'
import { findCommand, parseJournal } from '../../stream/journal/journal.ts'
import { type Applied, applyOperation, resultFromJournal } from '../../stream/operations/apply.ts'
import { type ChangeResult, NOTHING_CHANGED, type Operation, type Refusal } from '../../stream/operations/operation.ts'
import { checkCommandId } from '../../stream/text.ts'
import { operationWithoutBytes, writeAll } from './operation-data.ts'
import { type CurrentState, maxOperations, type PendingOperation } from './plan.ts'
import {
  checkOperation,
  dataToWrite,
  isFollowed,
  pendingOperation,
  submit,
  type TransactOptions,
  type TransactOutcome,
} from './transact.ts'

/** The outcome of an edit. Faults are thrown. */
export type EditOutcome =
  /**
   * All steps are in the stream, each as its own transaction; `results` in their order, empty if there was nothing to
   * do. `duplicate`: an earlier edit with this command id made the steps; these are its results, and nothing was
   * written now.
   */
  | {
      readonly kind: 'done'
      readonly results: readonly ChangeResult[]
      readonly duplicate: boolean
      readonly commandId: string
    }
  /** One step was refused: nothing at all was written. */
  | Exclude<TransactOutcome, { readonly kind: 'done' }>

/**
 * Writes several transactions at once, all or none, decided on the current state under the lease.
 *
 * `script` is synchronous. It is called again, with the new state, after a write that was rejected or lost: it must
 * only read and add steps. If it throws, `edit` throws the same error, and nothing is written. The steps have the
 * command ids `ID/1`, `ID/2`, …; steps that change nothing, and heartbeats, take no number. If `ID/1` is in the journal
 * already, the edit was made, and `script` is not called.
 *
 * @throws InvalidValue for an invalid text or id, too many steps, or an asynchronous `script`; and the errors of
 * `transact`
 */
export async function edit(
  store: StreamStore,
  name: string,
  options: TransactOptions,
  script: (editing: Editing) => unknown,
): Promise<EditOutcome> {
  checkStreamName(name)
  checkCommandId(options.commandId, stepId('', MAX_STEPS))
  options.signal?.throwIfAborted()
  const attempts = new EditAttempts(options, script)
  const outcome = await submitWithData(store, name, attempts, options)
  if (outcome.kind !== 'done') return outcome
  const { results, duplicate } = attempts.latest
  for (const result of results) if (isFollowed(result)) await options.afterWrite?.(result)
  return { kind: 'done', results, duplicate, commandId: options.commandId }
}

/** Maximum number of times that an edit finds new data to write: each time its stream was changed meanwhile. */
const DATA_ROUNDS = 10

/** Submits the edit again whenever it has written data that is kept beside the document. */
async function submitWithData(
  store: StreamStore,
  name: string,
  attempts: EditAttempts,
  options: TransactOptions,
): Promise<TransactOutcome> {
  for (let round = 1; ; round++) {
    try {
      return await submit(store, name, attempts.pending, options, true)
    } catch (error) {
      if (!(error instanceof DataNotWritten) || round === DATA_ROUNDS) throw error
      await writeAll(store, { stream: name, born: error.born }, error.data, options)
      attempts.written.add(error.born, error.data)
    }
  }
}

/** Data must be written before the change that names it: the edit is made again after that. */
class DataNotWritten extends Error {
  readonly born: string
  readonly data: readonly EventData[]

  constructor(born: string, data: readonly EventData[]) {
    super('data of the edit is not written yet')
    this.born = born
    this.data = data
  }
}

/** The data that an edit has written, by incarnation of the stream. */
class WrittenData {
  readonly #keys = new Set<string>()

  add(born: string, all: readonly EventData[]): void {
    for (const { sha256 } of all) this.#keys.add(`${born}/${sha256}`)
  }

  has(born: string, { sha256 }: EventData): boolean {
    return this.#keys.has(`${born}/${sha256}`)
  }
}

/** The attempts of one edit. */
class EditAttempts {
  latest: { readonly results: readonly ChangeResult[]; readonly duplicate: boolean } = { results: [], duplicate: false }
  readonly pending: PendingOperation
  readonly written = new WrittenData()
  readonly #options: TransactOptions
  readonly #script: (editing: Editing) => unknown
  /** The results of the attempts that were sent. */
  readonly #sent: (readonly ChangeResult[])[] = []

  constructor(options: TransactOptions, script: (editing: Editing) => unknown) {
    this.#options = options
    this.#script = script
    this.pending = { ...pendingOperation({ op: 'settle' }, options), edit: (...given) => this.#try(...given) }
  }

  #try(...[document, current, nowMs]: Parameters<NonNullable<PendingOperation['edit']>>): Applied {
    const made = resultsOf(document, this.#options.commandId, this.pending.nonce)
    if (made !== undefined) {
      const isOwn = made.every(({ duplicate }) => !duplicate)
      return this.#outcome({ kind: 'unchanged', document }, isOwn ? this.#own(made) : made, !isOwn)
    }
    const editing = new Editing(document, current, nowMs, this.pending)
    try {
      refusePromise(this.#script(editing))
    } catch (error) {
      if (editing.refusal === undefined) throw error
    } finally {
      editing.end()
    }
    if (editing.refusal !== undefined) return { kind: 'refused', refusal: editing.refusal }
    const { born } = editing.document
    const unwritten = editing.dataToWrite.filter(data => !this.written.has(born, data))
    if (unwritten.length > 0) throw new DataNotWritten(born, unwritten)
    const kind = editing.document === document ? 'unchanged' : 'changed'
    return this.#outcome({ kind, document: editing.document }, editing.results, false)
  }

  /** The results of the earlier attempt that was applied, as computed then: the journal does not have all of them. */
  #own(made: readonly ChangeResult[]): readonly ChangeResult[] {
    const applied = this.#sent.find(results => effectsIn(results) === effectsIn(made))
    return applied ?? made
  }

  #outcome(
    { kind, document }: { readonly kind: 'changed' | 'unchanged'; readonly document: StreamDocument },
    results: readonly ChangeResult[],
    duplicate: boolean,
  ): Applied {
    this.latest = { results, duplicate }
    if (kind === 'changed') this.#sent.push(results)
    const result = results.at(-1) ?? { ...NOTHING_CHANGED, version: document.version }
    return kind === 'changed' ? { kind, document, result } : { kind, result }
  }
}

/** The results of the edit with this id, rebuilt from the journal; `undefined` if it was not made. */
function resultsOf(document: StreamDocument, commandId: string, nonce: string): readonly ChangeResult[] | undefined {
  if (findCommand(document.journal, document.prefix, stepId(commandId, 1)) === undefined) return undefined
  const made = new Map(parseJournal(document.journal, document.prefix).map(tx => [tx.commandId, tx]))
  const results: ChangeResult[] = []
  for (let step = 1; ; step++) {
    const transaction = made.get(stepId(commandId, step))
    if (transaction === undefined) return results
    results.push(resultFromJournal(document, transaction, nonce))
  }
}

/** The part of the results that the journal has. */
function effectsIn(results: readonly ChangeResult[]): string {
  const entries = results.filter(({ changed }) => changed.length > 0)
  return JSON.stringify(entries.map(({ version, changed }) => [version, changed]))
}

/** Refuses an asynchronous script: its steps after the first `await` would come too late. */
function refusePromise(returned: unknown): void {
  if (!isThenable(returned)) return
  // The promise is not awaited: ignore its rejection.
  void Promise.resolve(returned).catch(() => {})
  throw new InvalidValue('the function that changes a stream must not be asynchronous: it runs under the lease', {
    hint: 'Fetch what it needs before, and send what follows from it in afterWrite.',
  })
}

/** Promises of other libraries and realms too. */
function isThenable(returned: unknown): returned is PromiseLike<unknown> {
  return typeof returned === 'object' && returned !== null && 'then' in returned && typeof returned.then === 'function'
}

/** Maximum number of steps of an edit; fewer in a large stream. */
const MAX_STEPS = 100

/** The command id of a step, from 1 on. */
function stepId(commandId: string, step: number): string {
  return `${commandId}/${step}`
}

/** A step of an edit was refused. Catching it does not help: the whole edit is refused. */
class StepRefused extends LeasectlError {
  readonly code: string

  constructor({ code, message }: Refusal) {
    super(message)
    this.code = code
  }
}

/** The working document of an edit: each step is applied to the result of the step before. */
export class Editing {
  readonly nowMs: number
  /** When the store last wrote the stream, epoch ms. */
  readonly modifiedMs: number
  /** The highest version in the summary beside it. */
  readonly versionFloor: number
  readonly results: ChangeResult[] = []
  /** The data of all steps that is kept beside the document. */
  readonly dataToWrite: EventData[] = []
  /** Why the edit is refused; further steps are then refused too. */
  refusal: Refusal | undefined
  document: StreamDocument
  readonly #current: CurrentState
  readonly #pending: PendingOperation
  readonly #original: StreamDocument
  #numbered = 0
  #ended = false

  constructor(document: StreamDocument, current: CurrentState, nowMs: number, pending: PendingOperation) {
    this.document = document
    this.nowMs = nowMs
    this.modifiedMs = current.modifiedMs ?? nowMs
    this.versionFloor = current.versionFloor
    this.#original = document
    this.#current = current
    this.#pending = pending
  }

  /** Applies a step. @throws InvalidValue for an invalid operation; an error that ends the edit if the step is refused */
  apply(operation: Operation): ChangeResult {
    if (this.#ended) throw new InvalidValue('the change of the stream has ended; no step can be added to it')
    if (this.refusal === undefined) {
      const applied = this.#step(operation)
      if (applied.kind !== 'refused') return this.#record(operation, applied)
      this.refusal = applied.refusal
    }
    throw new StepRefused(this.refusal)
  }

  /** Ends the edit: further steps are errors. */
  end(): void {
    this.#ended = true
  }

  #step(operation: Operation): Applied {
    const { author, pin, born, nonce } = this.#pending
    const { modifiedMs, name = 'stream' } = this.#current
    const step = { ...author, commandId: stepId(author.commandId, this.#numbered + 1) }
    checkOperation(name, operation, step)
    const room = Math.min(MAX_STEPS, maxOperations(this.document))
    if (this.results.length >= room) {
      throw new InvalidValue(`one change takes at most ${room} steps in a stream of this size; make several of it`)
    }
    this.dataToWrite.push(...dataToWrite(operation))
    return applyOperation(this.document, operationWithoutBytes(operation), step, {
      nowMs: this.nowMs,
      versionFloor: this.versionFloor,
      born: pin.ifBorn || born,
      nonce,
      // The precondition is about the original document, which the first step changes.
      ...(this.document === this.#original ? pin : {}),
      ...(modifiedMs === undefined ? {} : { lastModifiedMs: modifiedMs }),
    })
  }

  #record({ op }: Operation, applied: Exclude<Applied, { kind: 'refused' }>): ChangeResult {
    this.results.push(applied.result)
    if (applied.kind === 'changed') {
      this.document = applied.document
      // A heartbeat writes no entry: its number would be missing in the journal.
      if (op !== 'touch') this.#numbered += 1
    }
    return applied.result
  }
}

import { CLAIMANT, claimMs, readClaimant, readMsg, storedMsg } from '../ops/operation-input.ts'
import { type DocumentView, viewDocument } from '../ops/read-stream.ts'
import type { Editing } from '../ops/transact/edit.ts'
import type { EventData } from '../stream/data.ts'
import { type DataInput, readDataInput } from '../stream/data-input.ts'
import type { Claimant, Operation } from '../stream/operations/operation.ts'
import {
  type AttributeChanges,
  readAttributes,
  retryOf,
  SUCCESSORS,
  type SuccessorSpecs,
  type Successors,
} from '../stream/specs.ts'
import { flag, objectOf, required, requiredText } from '../stream/values.ts'
import type { ResultOption } from './data.ts'
import { EventReader, type EventSource, StreamReader } from './reader.ts'

/** Options of `EventEditor.start`. */
export interface StartOptions {
  /** Name of the worker that claims the event. */
  readonly owner: string
  /** Duration of the claim without a heartbeat, ms. Default 60 000. */
  readonly claimMs?: number
  /** Claims the event even though a worker without claims may still be working on it. */
  readonly takeOver?: boolean
}

/** Options of `EventEditor.touch`. */
export interface TouchOptions extends Claimant {
  /** New duration of the claim, counted from now, ms. Default 60 000. */
  readonly claimMs?: number
  /** Progress of the work. */
  readonly msg?: string
}

/** The result of an event, after validation. */
type ResultSpec = { readonly result?: EventData }

/** Options of `EventEditor.complete` and `fail`. */
export interface EndOptions extends Claimant, ResultOption {}

/** Options of `EventEditor.advance`: at least a next step or a fork. */
export interface AdvanceOptions extends Successors, Claimant, ResultOption {
  /** Allows a second advance of the same event. */
  readonly more?: boolean
}

/** What comes with a signal. */
export interface SignalDetails {
  /** The input of the event that takes it, up to 16 MiB. */
  readonly data?: DataInput
  /** For every event that waits for it, instead of the one with the lowest id. */
  readonly every?: boolean
}

const CLAIM_MS = 60_000

const readStart = objectOf<StartOptions>({ owner: required(requiredText), claimMs, takeOver: flag })
const readTouch = objectOf<TouchOptions>({ ...CLAIMANT, claimMs, msg: storedMsg })
type AdvanceSpec = Omit<AdvanceOptions, keyof SuccessorSpecs | 'result'> & Partial<SuccessorSpecs> & ResultSpec

const readAdvance = objectOf<AdvanceSpec>({ ...SUCCESSORS, ...CLAIMANT, more: flag, result: readDataInput })
export const readDetails = objectOf<Pick<Extract<Operation, { op: 'signal' }>, 'data' | 'every'>>({
  data: readDataInput,
  every: flag,
})
const readEnd = objectOf<Claimant & ResultSpec>({ ...CLAIMANT, result: readDataInput })

/**
 * An event inside `changeStream`. Each method call is one step, recorded as one transaction in the journal. A step that is
 * refused ends the change, and nothing is written. While a claim runs, the steps of its worker need the owner or fencing
 * token of the claim; `cancel` and `abort` do not.
 */
export class EventEditor extends EventReader {
  readonly #editing: Editing

  /** @internal */
  constructor(id: string, source: EventSource<EventReader>, editing: Editing) {
    super(id, source)
    this.#editing = editing
  }

  /** Claims the event for a worker: `inprocess`. Afterwards `fence` is the fencing token of the claim. */
  start(options: StartOptions): this {
    return this.#step({ op: 'start', event: this.id, claimMs: CLAIM_MS, ...readStart(options, 'options') })
  }

  /** Heartbeat of the worker: extends the claim. It adds no entry to the journal. */
  touch(options: TouchOptions): this {
    return this.#step({ op: 'touch', event: this.id, claimMs: CLAIM_MS, ...readTouch(options, 'options') })
  }

  /** Releases the claim: the event is `init` again, with the same attempt number. */
  release(claimant: Claimant): this {
    return this.#step({ op: 'release', event: this.id, ...readClaimant(claimant, 'claimant') })
  }

  /** Ends the event's own work and adds successors; the event stays open until they have ended. `successors` lists them. */
  advance(options: AdvanceOptions): this {
    return this.#step({ op: 'advance', event: this.id, forks: [], ...readAdvance(options, 'options') })
  }

  /** Completes the event, without successors: `completed`. */
  complete(msg?: string, options: EndOptions = {}): this {
    return this.#step({ op: 'complete', event: this.id, ...readMsg(msg), ...readEnd(options, 'options') })
  }

  /** Fails the event: it becomes `aborted`, open events below it `canceled`. */
  fail(msg?: string, options: EndOptions = {}): this {
    return this.#step({ op: 'fail', event: this.id, ...readMsg(msg), ...readEnd(options, 'options') })
  }

  /**
   * Fails the attempt for a passing reason: the event is tried again after a pause, while attempts are left.
   *
   * @param options - `retry`: the policy for an event that names none, `5 2s..1m`
   */
  transient(msg?: string, { retry, ...claimant }: Claimant & { readonly retry?: string } = {}): this {
    const policy = retry === undefined ? {} : { retry: retryOf(retry, 'retry') }
    const claim = readClaimant(claimant, 'options')
    return this.#step({ op: 'fail', event: this.id, transient: true, ...readMsg(msg), ...policy, ...claim })
  }

  /** Lets a stream that blocks on failures go on in spite of this one: what waits for the event counts it as passed. */
  skip(msg?: string): this {
    return this.#step({ op: 'skip', event: this.id, ...readMsg(msg) })
  }

  /** Cancels the event at a user's request: it and all open events below it become `canceled`. */
  cancel(msg?: string): this {
    return this.#step({ op: 'cancel', event: this.id, ...readMsg(msg) })
  }

  /** Forces the event to fail: it becomes `aborted`, open events below it `canceled`. */
  abort(msg?: string): this {
    return this.#step({ op: 'abort', event: this.id, ...readMsg(msg) })
  }

  /** Reopens an aborted or canceled event, and the events above it that closed. */
  retry(): this {
    return this.#step({ op: 'retry', event: this.id })
  }

  /** Sets attributes of the event; `''` removes the attribute. */
  set(attributes: AttributeChanges, claimant: Claimant = {}): this {
    const changes = readAttributes(attributes, 'attributes')
    return this.#step({ op: 'set', event: this.id, attributes: changes, ...readClaimant(claimant, 'claimant') })
  }

  #step(operation: Operation): this {
    this.#editing.apply(operation)
    return this
  }
}

/** A stream inside `changeStream`. It reflects all steps so far. */
export class StreamEditor extends StreamReader<EventEditor> {
  readonly #editing: Editing

  /** @internal */
  constructor(name: string, editing: Editing) {
    super(name, viewOf(editing), (id, source) => new EventEditor(id, source, editing))
    this.#editing = editing
  }

  /**
   * Cancels the stream at a user's request: all open events become `canceled`. A stream that compensates undoes first what it did.
   *
   * @param options - `noCompensate`: ends it at once, without undoing anything
   */
  cancel(msg?: string, { noCompensate = false }: { readonly noCompensate?: boolean } = {}): this {
    return this.#step({ op: 'cancel', ...readMsg(msg), ...(noCompensate ? { noCompensate } : {}) })
  }

  /**
   * Forces the stream to fail: the root becomes `aborted`, open events below it `canceled`. A stream that compensates undoes first what it did.
   *
   * @param options - `noCompensate`: ends it at once, without undoing anything
   */
  abort(msg?: string, { noCompensate = false }: { readonly noCompensate?: boolean } = {}): this {
    return this.#step({ op: 'abort', ...readMsg(msg), ...(noCompensate ? { noCompensate } : {}) })
  }

  /**
   * Reopens all failed events that can be retried.
   *
   * @param options - `canceled`: also what was canceled on request
   */
  retry({ canceled = false }: { readonly canceled?: boolean } = {}): this {
    return this.#step({ op: 'retry', ...(canceled ? { canceled } : {}) })
  }

  /**
   * Signals a fact from outside: the event with the lowest id that waits for it goes on, with the data as its input. If
   * none does, it is kept for the first that will.
   *
   * @param options - `data`: the input of the event; `every`: for all events that wait for it
   */
  signal(name: string, options: SignalDetails = {}): this {
    return this.#step({ op: 'signal', name: requiredText(name, 'name'), ...readDetails(options, 'options') })
  }

  /** Acknowledges the failures so far: listings and checks leave the stream out until the next one. */
  acknowledge(): this {
    return this.#step({ op: 'ack' })
  }

  /**
   * Suspends the stream: no event of it is claimed, and its limits stand still until it is resumed. Claimed events go on.
   *
   * @param options - `stop`: hands claimed events back at once; their workers stop at the next heartbeat
   */
  suspend(msg?: string, { stop = false }: { readonly stop?: boolean } = {}): this {
    return this.#step({ op: 'suspend', ...readMsg(msg), ...(stop ? { stop } : {}) })
  }

  /** Resumes a suspended stream, or lets a held one begin. The time that passed is added to its limits. */
  resume(): this {
    return this.#step({ op: 'resume' })
  }

  #step(operation: Operation): this {
    this.#editing.apply(operation)
    return this
  }
}

/** The document after the last step; its view is rebuilt only when the document has changed. */
function viewOf(editing: Editing): () => DocumentView {
  let view = viewDocument(editing.document, editing.nowMs, editing)
  return () => {
    if (view.document !== editing.document) view = viewDocument(editing.document, editing.nowMs, editing)
    return view
  }
}

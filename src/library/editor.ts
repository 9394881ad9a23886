import { type DocumentView, viewDocument } from '../ops/read-stream.ts'
import type { Editing } from '../ops/transact/edit.ts'
import type { Claimant, Operation } from '../stream/operations/operation.ts'
import { flag, objectOf, required, requiredText } from '../stream/values.ts'
import { CLAIMANT, claimMs, readClaimant, readMsg, storedMsg } from './operations.ts'
import { EventReader, type EventSource, StreamReader } from './reader.ts'
import { type AttributeChanges, readAttributes, SUCCESSORS, type SuccessorSpecs, type Successors } from './specs.ts'

/** What `EventEditor.start` needs to know. */
export interface StartOptions {
  /** Name of the worker that claims it. */
  readonly owner: string
  /** How long the claim holds without a sign of life, ms. Default 60 000. */
  readonly claimMs?: number
  /** Claims it even from a worker that makes no claims and has not outlived its time. */
  readonly takeOver?: boolean
}

/** What `EventEditor.touch` needs to know. */
export interface TouchOptions extends Claimant {
  /** How long the claim holds from now, ms. Default 60 000. */
  readonly claimMs?: number
  /** How far the work is. */
  readonly msg?: string
}

/** What `EventEditor.advance` adds: at least a next step or a fork. */
export interface AdvanceOptions extends Successors, Claimant {
  /** Allows a second advance of the same event. */
  readonly more?: boolean
}

const CLAIM_MS = 60_000

const readStart = objectOf<StartOptions>({ owner: required(requiredText), claimMs, takeOver: flag })
const readTouch = objectOf<TouchOptions>({ ...CLAIMANT, claimMs, msg: storedMsg })
const readAdvance = objectOf<Omit<AdvanceOptions, keyof SuccessorSpecs> & Partial<SuccessorSpecs>>({
  ...SUCCESSORS,
  ...CLAIMANT,
  more: flag,
})

/**
 * An event within `changeStream`. Each method is a step, a transaction of its own in the journal; a step that is refused ends
 * the change, and nothing is written. While a worker's claim runs, the steps of the work need its owner or fence; cancel and
 * abort do not.
 */
export class EventEditor extends EventReader {
  readonly #editing: Editing

  /** @internal */
  constructor(id: string, source: EventSource<EventReader>, editing: Editing) {
    super(id, source)
    this.#editing = editing
  }

  /** Claims it for a worker: `inprocess`. Afterwards `fence` is that of the claim. */
  start(options: StartOptions): this {
    return this.#step({ op: 'start', event: this.id, claimMs: CLAIM_MS, ...readStart(options, 'options') })
  }

  /** A sign of life of its worker: extends the claim. Leaves no entry in the journal. */
  touch(options: TouchOptions): this {
    return this.#step({ op: 'touch', event: this.id, claimMs: CLAIM_MS, ...readTouch(options, 'options') })
  }

  /** Its worker hands it back: `init` again, the same attempt. */
  release(claimant: Claimant): this {
    return this.#step({ op: 'release', event: this.id, ...readClaimant(claimant, 'claimant') })
  }

  /** Its own work is done; what follows is added, and it stays open until that has ended. `successors` has the new events. */
  advance(options: AdvanceOptions): this {
    return this.#step({ op: 'advance', event: this.id, forks: [], ...readAdvance(options, 'options') })
  }

  /** Its work is done, and nothing follows: `completed`. */
  complete(msg?: string, claimant: Claimant = {}): this {
    return this.#step({ op: 'complete', event: this.id, ...readMsg(msg), ...readClaimant(claimant, 'claimant') })
  }

  /** Its work failed: `aborted`, and what is open below it `canceled`. */
  fail(msg?: string, claimant: Claimant = {}): this {
    return this.#step({ op: 'fail', event: this.id, ...readMsg(msg), ...readClaimant(claimant, 'claimant') })
  }

  /** A user's wish: it and everything open below it becomes `canceled`. */
  cancel(msg?: string): this {
    return this.#step({ op: 'cancel', event: this.id, ...readMsg(msg) })
  }

  /** An operator's force: `aborted`, and what is open below it `canceled`. */
  abort(msg?: string): this {
    return this.#step({ op: 'abort', event: this.id, ...readMsg(msg) })
  }

  /** Reopens an aborted or canceled event, and what closed above it. */
  retry(): this {
    return this.#step({ op: 'retry', event: this.id })
  }

  /** Changes free attributes; `''` removes one. */
  set(attributes: AttributeChanges, claimant: Claimant = {}): this {
    const changes = readAttributes(attributes, 'attributes')
    return this.#step({ op: 'set', event: this.id, attributes: changes, ...readClaimant(claimant, 'claimant') })
  }

  #step(operation: Operation): this {
    this.#editing.apply(operation)
    return this
  }
}

/** A stream within `changeStream`: what it shows is what the steps so far made of it. */
export class StreamEditor extends StreamReader<EventEditor> {
  readonly #editing: Editing

  /** @internal */
  constructor(name: string, editing: Editing) {
    super(name, viewOf(editing), (id, source) => new EventEditor(id, source, editing))
    this.#editing = editing
  }

  /** A user's wish: everything open becomes `canceled`. */
  cancel(msg?: string): this {
    return this.#step({ op: 'cancel', ...readMsg(msg) })
  }

  /** An operator's force: the root becomes `aborted`, everything open below it `canceled`. */
  abort(msg?: string): this {
    return this.#step({ op: 'abort', ...readMsg(msg) })
  }

  /**
   * Reopens all failed events that may be retried.
   *
   * @param options `canceled`: also what was canceled on request
   */
  retry({ canceled = false }: { readonly canceled?: boolean } = {}): this {
    return this.#step({ op: 'retry', ...(canceled ? { canceled } : {}) })
  }

  /** Acknowledges the failures so far: listings and checks leave the stream out until the next one. */
  acknowledge(): this {
    return this.#step({ op: 'ack' })
  }

  #step(operation: Operation): this {
    this.#editing.apply(operation)
    return this
  }
}

/** The document as the last step left it, looked at anew only when it is another. */
function viewOf(editing: Editing): () => DocumentView {
  let view = viewDocument(editing.document, editing.nowMs, editing)
  return () => {
    if (view.document !== editing.document) view = viewDocument(editing.document, editing.nowMs, editing)
    return view
  }
}

import type { SeenTransaction, StreamView } from '../../ops/read-stream.ts'
import { isFailed, isSuperseded, type StreamEvent } from '../../stream/event.ts'
import { summarize } from '../../stream/summarize.ts'
import type { Summary } from '../../stream/summary.ts'
import { JournalIndex } from './journal-index.ts'
import { formOf, type TreeForm } from './tree-form.ts'
import { type Below, TAIL_LENGTH, type TreeNode } from './types.ts'

/** Running totals over the nodes of a tree: of what is below one of them without walking there. */
interface Totals {
  readonly done: Int32Array
  readonly failed: Int32Array
  readonly total: Int32Array
}

/** A state of a stream that was read, and what follows from it: worked out when it is asked for, and once. */
export class Reading {
  readonly #read: StreamView
  readonly #before: TreeForm | undefined
  #view: StreamView | undefined
  #form: TreeForm | undefined
  #totals: Totals | undefined
  #summary: { readonly of: Summary | undefined } | undefined
  #tail: readonly SeenTransaction[] | undefined
  #index: JournalIndex | undefined
  readonly #indexBefore: JournalIndex | undefined

  /** @param before the reading before this one: what the same in its form is taken over */
  constructor(view: StreamView, before: Reading | undefined) {
    this.#read = view
    this.#before = before?.lastForm
    this.#indexBefore = before?.lastIndex
  }

  /** What was read; what its events know of each other is taken over where it is the same. */
  get view(): StreamView {
    this.#view ??= { ...this.#read, stream: this.#formNow.stream }
    return this.#view
  }

  /** Without asking for one: those that nobody looked at must not hold each other. */
  get lastForm(): TreeForm | undefined {
    return this.#form ?? this.#before
  }

  get lastIndex(): JournalIndex | undefined {
    return this.#index ?? this.#indexBefore
  }

  get nodes(): readonly TreeNode[] {
    return this.#formNow.nodes
  }

  get summary(): Summary | undefined {
    this.#summary ??= { of: summaryOf(this.#read) }
    return this.#summary.of
  }

  get tail(): readonly SeenTransaction[] {
    this.#tail ??= this.#read.transactions().slice(-TAIL_LENGTH)
    return this.#tail
  }

  event(id: string): StreamEvent | undefined {
    return this.#formNow.stream.find(id)
  }

  transactionsOf(id: string): readonly SeenTransaction[] {
    const journal = this.#read.transactions()
    this.#index ??= JournalIndex.of(journal, this.#indexBefore)
    return this.#index.transactionsOf(id, journal)
  }

  below(at: number): Below {
    const { nodes } = this
    const end = nodes[at]?.end
    if (end === undefined) return NOTHING
    this.#totals ??= this.#count()
    const { done, failed, total } = this.#totals
    const of = (counts: Int32Array) => (counts[end] ?? 0) - (counts[at + 1] ?? 0)
    return { done: of(done), failed: of(failed), total: of(total) }
  }

  #count(): Totals {
    const { nodes } = this
    const counts = () => new Int32Array(nodes.length + 1)
    const totals: Totals = { done: counts(), failed: counts(), total: counts() }
    let [done, failed, total] = [0, 0, 0]
    for (const [at, { id, again }] of nodes.entries()) {
      const event = again ? undefined : this.event(id)
      if (event !== undefined && !isSuperseded(event)) {
        total++
        if (event.status === 'completed') done++
        if (isFailed(event)) failed++
      }
      totals.done[at + 1] = done
      totals.failed[at + 1] = failed
      totals.total[at + 1] = total
    }
    return totals
  }

  get #formNow(): TreeForm {
    this.#form ??= formOf(this.#read.stream, this.#before)
    return this.#form
  }
}

const NOTHING: Below = { done: 0, failed: 0, total: 0 }

/** The one beside the body, else made of it as listings do. */
function summaryOf({ stored, document, nowMs }: StreamView): Summary | undefined {
  if (stored.summary !== undefined || document.events.length === 0) return stored.summary
  return summarize(document, { lastModifiedMs: stored.modifiedMs, nowMs, lastBy: '' })
}

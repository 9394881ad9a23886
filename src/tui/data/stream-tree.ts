import { type TreeRow, threadTree } from '../../formats/stream/tree.ts'
import type { JournalEntry, StreamView } from '../../ops/read-stream.ts'
import type { StreamEvent } from '../../stream/event.ts'
import type { EventStream } from '../../stream/event-stream.ts'
import { summarize } from '../../stream/summarize.ts'
import type { Summary } from '../../stream/summary.ts'
import { everyEvent, MARKS } from './every-event.ts'
import { type Below, TAIL_LENGTH, type TreeNode } from './types.ts'

/** Running totals over the nodes of a tree, for subtree counts without a walk. */
interface Totals {
  readonly done: Int32Array
  readonly failed: Int32Array
  readonly canceled: Int32Array
  readonly total: Int32Array
}

/** A state of a stream as read, with derived data computed once on demand. */
export class StreamTree {
  readonly #read: StreamView
  readonly #before: TreeForm | undefined
  #view: StreamView | undefined
  #form: TreeForm | undefined
  #totals: Totals | undefined
  #summary: { readonly of: Summary | undefined } | undefined
  #tail: readonly JournalEntry[] | undefined
  #index: JournalIndex | undefined
  readonly #indexBefore: JournalIndex | undefined

  /** @param before the previous state, whose derived data is reused where unchanged */
  constructor(view: StreamView, before: StreamTree | undefined) {
    this.#read = view
    this.#before = before?.lastForm
    this.#indexBefore = before?.lastIndex
  }

  /** The view as read, reusing the unchanged links of the previous state. */
  get view(): StreamView {
    this.#view ??= { ...this.#read, stream: this.#currentForm.stream }
    return this.#view
  }

  /** Not computed on demand, so that unused states do not retain each other. */
  get lastForm(): TreeForm | undefined {
    return this.#form ?? this.#before
  }

  get lastIndex(): JournalIndex | undefined {
    return this.#index ?? this.#indexBefore
  }

  get nodes(): readonly TreeNode[] {
    return this.#currentForm.nodes
  }

  get summary(): Summary | undefined {
    this.#summary ??= { of: summaryOf(this.#read) }
    return this.#summary.of
  }

  get tail(): readonly JournalEntry[] {
    this.#tail ??= this.#read.transactions().slice(-TAIL_LENGTH)
    return this.#tail
  }

  event(id: string): StreamEvent | undefined {
    return this.#currentForm.stream.find(id)
  }

  transactionsOf(id: string): readonly JournalEntry[] {
    const journal = this.#read.transactions()
    this.#index ??= JournalIndex.of(journal, this.#indexBefore)
    return this.#index.transactionsOf(id, journal)
  }

  below(at: number): Below {
    const { nodes } = this
    const end = nodes[at]?.end
    if (end === undefined) return NOTHING
    this.#totals ??= this.#count()
    const { done, failed, canceled, total } = this.#totals
    const of = (counts: Int32Array) => (counts[end] ?? 0) - (counts[at + 1] ?? 0)
    return { done: of(done), failed: of(failed), canceled: of(canceled), total: of(total) }
  }

  #count(): Totals {
    const { nodes, stream } = this.#currentForm
    const counts = () => new Int32Array(nodes.length + 1)
    const totals: Totals = { done: counts(), failed: counts(), canceled: counts(), total: counts() }
    const { marks } = everyEvent(stream)
    let [done, failed, canceled, total] = [0, 0, 0, 0]
    for (const [at, { position, again }] of nodes.entries()) {
      const mark = again ? 0 : (marks[position] ?? 0)
      if (mark & MARKS.counts) {
        total++
        if (mark & MARKS.completed) done++
        if (mark & MARKS.aborted) failed++
        if (mark & MARKS.canceled) canceled++
      }
      totals.done[at + 1] = done
      totals.failed[at + 1] = failed
      totals.canceled[at + 1] = canceled
      totals.total[at + 1] = total
    }
    return totals
  }

  get #currentForm(): TreeForm {
    this.#form ??= formOf(this.#read.stream, this.#before)
    return this.#form
  }
}

const NOTHING: Below = { done: 0, failed: 0, canceled: 0, total: 0 }

/** The stored summary, otherwise computed from the document as listings do. */
function summaryOf({ stored, document, nowMs }: StreamView): Summary | undefined {
  if (stored.summary !== undefined || document.events.length === 0) return stored.summary
  return summarize(document, { lastModifiedMs: stored.modifiedMs, nowMs, lastBy: '' })
}

/** The events and their links, without their statuses. */
interface TreeForm {
  /** The current stream, reusing the unchanged links of the previous one. */
  readonly stream: EventStream
  readonly nodes: readonly TreeNode[]
}

/** The structure of a stream. Reuses unchanged parts of the previous one, so that it costs next to nothing. */
export function formOf(stream: EventStream, before: TreeForm | undefined): TreeForm {
  const { events } = stream
  if (before !== undefined && hasSameLinks(events, before.stream.events)) {
    return { stream: before.stream.withStates(events), nodes: before.nodes }
  }
  const nodes = nodesOf(threadTree(stream), stream)
  const isSame = before !== undefined && isSameTree(nodes, before.nodes)
  return { stream, nodes: isSame ? before.nodes : nodes }
}

function hasSameLinks(a: readonly StreamEvent[], b: readonly StreamEvent[]): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let at = 0; at < a.length; at++) {
    const left = a[at]
    const right = b[at]
    if (left === right) continue
    if (left?.id !== right?.id || left?.next !== right?.next || left?.prev !== right?.prev) return false
  }
  return true
}

function isSameTree(a: readonly TreeNode[], b: readonly TreeNode[]): boolean {
  if (a.length !== b.length) return false
  return a.every(({ key, position, depth, end, again }, at) => {
    const other = b[at]
    const isSamePlace = key === other?.key && position === other.position
    return isSamePlace && depth === other.depth && end === other.end && again === other.again
  })
}

function nodesOf(rows: readonly TreeRow[], stream: EventStream): readonly TreeNode[] {
  const ends = endsOf(rows)
  const used = new Set<string>()
  const above: number[] = []
  return rows.map(({ id, depth, again }, at) => {
    above[depth] = at
    const key = freeKey(id, used)
    used.add(key)
    const parent = depth === 0 ? -1 : (above[depth - 1] ?? -1)
    return { key, id, position: stream.positionOf(id), depth, parent, end: ends[at] ?? at + 1, again }
  })
}

function freeKey(id: string, used: ReadonlySet<string>): string {
  let key = id
  for (let number = 2; used.has(key); number++) key = `${id}#${number}`
  return key
}

/** A subtree ends before the next row of the same or a lower depth. */
function endsOf(rows: readonly TreeRow[]): Int32Array {
  const ends = new Int32Array(rows.length)
  const open: number[] = []
  const close = (depth: number, end: number) => {
    for (let last = open.at(-1); last !== undefined && (rows[last]?.depth ?? 0) >= depth; last = open.at(-1)) {
      ends[last] = end
      open.pop()
    }
  }
  for (const [at, { depth }] of rows.entries()) {
    close(depth, at)
    open.push(at)
  }
  close(0, rows.length)
  return ends
}

type Journal = readonly JournalEntry[]

/**
 * Maps events to the transactions that concern them. A journal only grows, so all states of a stream share one index
 * and only new entries are scanned; each state uses the part that its own journal has.
 */
class JournalIndex {
  readonly #places = new Map<string, number[]>()
  #indexed = 0
  #last: JournalEntry | undefined

  /** The index of this journal: the previous one if the journal continues it. */
  static of(journal: Journal, before = new JournalIndex()): JournalIndex {
    const index = before.#isBeginningOf(journal) ? before : new JournalIndex()
    index.#add(journal)
    return index
  }

  /** The transactions about an event in this or an earlier journal of the stream, oldest first. */
  transactionsOf(id: string, journal: Journal): Journal {
    const places = this.#places.get(id) ?? []
    const found = places.flatMap(at => journal[at] ?? [])
    const last = journal.at(-1)
    return last?.provisional && isAbout(last, id) ? [...found, last] : found
  }

  #isBeginningOf(journal: Journal): boolean {
    const same = journal[this.#indexed - 1]
    return this.#indexed === 0 || (same?.version === this.#last?.version && same?.commandId === this.#last?.commandId)
  }

  /** A provisional entry is not indexed: a recorded one will take its place. */
  #add(journal: Journal): void {
    for (; this.#indexed < journal.length; this.#indexed++) {
      const tx = journal[this.#indexed]
      if (tx === undefined || tx.provisional) return
      this.#last = tx
      for (const id of new Set([tx.on, ...tx.changes.map(({ event }) => event)])) this.#put(id, this.#indexed)
    }
  }

  #put(id: string, place: number): void {
    const places = this.#places.get(id)
    if (places === undefined) this.#places.set(id, [place])
    else places.push(place)
  }
}

function isAbout({ on, changes }: JournalEntry, id: string): boolean {
  return on === id || changes.some(({ event }) => event === id)
}

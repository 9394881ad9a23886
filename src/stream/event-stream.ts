import { isFinal, isSuperseded, isWaitingJoin, type StreamEvent } from './event.ts'
import { type Graph, linkEvents, postOrder, reach } from './graph.ts'

/** Direct successors of an event that count; `missing` ids count as open. */
export interface Successors {
  readonly events: readonly StreamEvent[]
  readonly missing: readonly string[]
}

/** How lists that stay as they are hang together, and the order of all their positions. */
const GRAPHS = new WeakMap<readonly StreamEvent[], Graph>()
const ORDERS = new WeakMap<Graph, readonly number[]>()

/** What is known of `before` is kept for `after`, if that hangs together alike; both stay as they are. */
export function shareLinks(before: readonly StreamEvent[], after: readonly StreamEvent[]): void {
  const graph = GRAPHS.get(before)
  if (graph === undefined || before.length !== after.length) return
  for (const [at, event] of after.entries()) {
    const other = before[at]
    if (event === other) continue
    if (event.id !== other?.id || event.next !== other.next || event.prev !== other.prev) return
  }
  GRAPHS.set(after, graph)
}

/**
 * The events of one stream and the questions one asks of them. On duplicate ids the first event wins; the others are
 * kept but take no part. Cycles, dangling ids and several predecessors are possible and harmless.
 */
export class EventStream {
  /** In document order. */
  readonly events: readonly StreamEvent[]
  #graph: Graph | undefined

  /** @param events read through, not copied: a working copy may replace events at their positions while it owns them */
  constructor(events: readonly StreamEvent[]) {
    this.events = events
  }

  /** The stream of a list that stays as it is: how it hangs together is worked out once, as long as the list lives. */
  static of(events: readonly StreamEvent[]): EventStream {
    const stream = new EventStream(events)
    stream.#graph = GRAPHS.get(events) ?? linkEvents(events)
    GRAPHS.set(events, stream.#graph)
    return stream
  }

  /**
   * These events in other states. What is known of how they hang together is kept.
   *
   * @param events as many, with the same `id`, `next` and `prev` in the same order: that is not looked at again
   */
  withStates(events: readonly StreamEvent[]): EventStream {
    const stream = new EventStream(events)
    stream.#graph = this.#graph
    return stream
  }

  /** The first event of the document. `undefined` for a document without events. */
  get root(): StreamEvent | undefined {
    return this.events[0]
  }

  /** A held stream has a root that is still `init`: nothing in it is worked or due until the root is started. */
  get held(): boolean {
    return this.root?.status === 'init'
  }

  /** The root's status is final. */
  get done(): boolean {
    return this.root !== undefined && isFinal(this.root)
  }

  isRoot(event: StreamEvent): boolean {
    return this.root?.id === event.id
  }

  /** The first event with this id. */
  find(id: string): StreamEvent | undefined {
    return this.at(this.positionOf(id))
  }

  /** Position of the first event with this id, -1 if there is none. */
  positionOf(id: string): number {
    return this.#links.position.get(id) ?? -1
  }

  at(position: number): StreamEvent | undefined {
    return this.events[position]
  }

  /** False for a later event with an id that an earlier one has. */
  counts(position: number): boolean {
    const event = this.events[position]
    if (event === undefined) return false
    const first = this.#links.position
    return first.size === this.events.length || first.get(event.id) === position
  }

  /** Direct successors: ids in `next` and the events whose `prev` names this one, superseded ones left out. */
  successors(event: StreamEvent): Successors {
    const position = this.positionOf(event.id)
    return {
      events: this.successorPositions(position).flatMap(at => this.events[at] ?? []),
      missing: this.missingIds(position),
    }
  }

  /** True while a successor is open or missing: the event waits. A join that waits is open. */
  openSuccessors(event: StreamEvent): boolean {
    const position = this.positionOf(event.id)
    return this.missingIds(position).length > 0 || (this.#links.successors[position] ?? []).some(at => this.#isOpen(at))
  }

  #isOpen(position: number): boolean {
    const event = this.events[position]
    return event !== undefined && !isSuperseded(event) && !isFinal(event)
  }

  /** Nothing follows it, not even what is superseded: only its own worker ends it. */
  isLeaf(position: number): boolean {
    return this.followingPositions(position).length === 0
  }

  /** Positions of direct successors, superseded ones too. */
  followingPositions(position: number): readonly number[] {
    return this.#links.successors[position] ?? []
  }

  /** Positions of direct successors that count, superseded ones left out. */
  successorPositions(position: number): number[] {
    const all = this.#links.successors[position] ?? []
    return all.filter(at => {
      const event = this.events[at]
      return event !== undefined && !isSuperseded(event)
    })
  }

  /** Ids in `next` that no event has. */
  missingIds(position: number): readonly string[] {
    return this.#links.missing.get(position) ?? []
  }

  predecessorPositions(position: number): readonly number[] {
    return this.#links.predecessors[position] ?? []
  }

  /** All events above, each once, nearest first. */
  ancestorPositions(position: number): number[] {
    return reach(position, at => this.predecessorPositions(at))
  }

  /** All events below, superseded ones too, each once, children before parents. Below the root is everything. */
  descendantPositions(position: number): number[] {
    if (position === 0) return this.childrenFirst().filter(at => at !== 0)
    return postOrder(position, at => this.#links.successors[at] ?? [])
  }

  /** All positions that count, every event after what follows it, as far as cycles allow. */
  childrenFirst(): readonly number[] {
    const links = this.#links
    const known = ORDERS.get(links)
    if (known !== undefined) return known
    const all = [...links.position.values()]
    const order = postOrder(-1, at => (at < 0 ? all : (links.successors[at] ?? [])))
    ORDERS.set(links, order)
    return order
  }

  /** The first join of this event's forks that still waits for its branches. */
  waitingJoin(position: number): number | undefined {
    return (this.#links.successors[position] ?? []).find(at => {
      const event = this.events[at]
      return event !== undefined && isWaitingJoin(event) && !isSuperseded(event)
    })
  }

  /** The nearest final event above, if any: then the event is *ended above*. The root is above everything. */
  finalAncestor(position: number): StreamEvent | undefined {
    for (const at of [...this.ancestorPositions(position), 0]) {
      const event = this.events[at]
      if (event !== undefined && at !== position && isFinal(event)) return event
    }
    return undefined
  }

  get #links(): Graph {
    this.#graph ??= linkEvents(this.events)
    return this.#graph
  }
}

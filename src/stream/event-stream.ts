import { isFailed, isFinal, isSuperseded, isWaitingJoin, nextIds, type StreamEvent } from './event.ts'

/** Direct successors of an event that count; `missing` ids count as open. */
export interface EventSuccessors {
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

  /** Whether the event at this position was canceled on request, or something above it: of the failed events on the way up, the topmost is canceled. */
  isWithdrawn(position: number): boolean {
    const path = [position, ...this.ancestorPositions(position)].map(at => this.events[at])
    return path.findLast(event => event !== undefined && isFailed(event) && !isSuperseded(event))?.status === 'canceled'
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
  successors(event: StreamEvent): EventSuccessors {
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

/** Who follows whom, by position in the list of events. Statuses do not matter to it, so it outlives their changes. */
export interface Graph {
  /** Position of the first event with an id. */
  readonly position: ReadonlyMap<string, number>
  /** Positions of direct successors: those in `next` first, then those whose `prev` names the event. */
  readonly successors: readonly (readonly number[])[]
  readonly predecessors: readonly (readonly number[])[]
  /** Ids in `next` that no event has. */
  readonly missing: ReadonlyMap<number, readonly string[]>
}

/**
 * Reads the links of a list of events. On duplicate ids the first event wins, the others take no part. Links of an
 * event to itself and links to the root are passed over: the root follows nothing, and it waits for all the others.
 */
export function linkEvents(events: readonly StreamEvent[]): Graph {
  const position = new Map<string, number>()
  events.forEach((event, at) => {
    if (!position.has(event.id)) position.set(event.id, at)
  })
  const successors: number[][] = events.map(() => [])
  const predecessors: number[][] = events.map(() => [])
  const missing = new Map<number, string[]>()
  /** Of each event who named it last, so that one who names it twice is linked once. */
  const namedBy = new Int32Array(events.length).fill(-1)
  const connect = (from: number, to: number) => {
    successors[from]?.push(to)
    predecessors[to]?.push(from)
  }
  events.forEach((event, at) => {
    if (event.next === '' || position.get(event.id) !== at) return
    for (const id of nextIds(event)) {
      const to = position.get(id)
      if (to === undefined) append(missing, at, id)
      else if (to !== 0 && to !== at && namedBy[to] !== at) {
        namedBy[to] = at
        connect(at, to)
      }
    }
  })
  events.forEach((event, at) => {
    if (at === 0 || event.prev === '' || position.get(event.id) !== at) return
    const from = position.get(event.prev)
    if (from !== undefined && from !== at && !predecessors[at]?.includes(from)) connect(from, at)
  })
  return { position, successors, predecessors, missing }
}

function append(lists: Map<number, string[]>, at: number, id: string): void {
  const list = lists.get(at)
  if (list === undefined) lists.set(at, [id])
  else list.push(id)
}

/** All positions that can be reached from one, that one left out; each once, nearest first. */
export function reach(start: number, neighbours: (at: number) => readonly number[]): number[] {
  const seen = new Set([start])
  const found: number[] = []
  for (let queue = [start]; queue.length > 0; ) {
    const following: number[] = []
    for (const at of queue) {
      for (const neighbour of neighbours(at)) {
        if (seen.has(neighbour)) continue
        seen.add(neighbour)
        found.push(neighbour)
        following.push(neighbour)
      }
    }
    queue = following
  }
  return found
}

/**
 * The same, each after what follows it, as far as cycles allow. Without recursion: chains of strangers may be as long
 * as the document allows.
 */
function postOrder(start: number, successors: (at: number) => readonly number[]): number[] {
  const seen = new Set([start])
  const found: number[] = []
  const stack = [{ at: start, following: successors(start), visited: 0 }]
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const next = top.following[top.visited++]
    if (next === undefined) {
      stack.pop()
      if (top.at !== start) found.push(top.at)
    } else if (!seen.has(next)) {
      seen.add(next)
      stack.push({ at: next, following: successors(next), visited: 0 })
    }
  }
  return found
}

import {
  isFailed,
  isFinal,
  isGated,
  isSkipped,
  isSuperseded,
  isWaitingJoin,
  memoFor,
  nextIds,
  type StreamEvent,
  waitsForEvents,
} from './event.ts'
import { sortedById } from './event-id.ts'

/** Direct successors of an event, without superseded ones; `missing` ids count as open. */
export interface EventSuccessors {
  readonly events: readonly StreamEvent[]
  readonly missing: readonly string[]
}

/** What is known of an immutable list of events. */
interface ListMemo {
  graph: Graph | undefined
  /** Nothing is left to settle, now or later. */
  isSettled: boolean
}

export const listMemoOf = memoFor<readonly StreamEvent[], ListMemo>(() => ({ graph: undefined, isSettled: false }))

/** Reuses the links of `before` for `after` if ids, `next` and `prev` are the same. Both lists are immutable. */
export function shareLinks(before: readonly StreamEvent[], after: readonly StreamEvent[]): void {
  const { graph } = listMemoOf(before)
  if (graph === undefined || before.length !== after.length) return
  for (const [at, event] of after.entries()) {
    const other = before[at]
    if (event === other) continue
    if (event.id !== other?.id || event.next !== other.next || event.prev !== other.prev) return
  }
  listMemoOf(after).graph = graph
}

/**
 * The events of one stream as a graph. On duplicate ids the first event wins; the others are kept but ignored. Cycles,
 * dangling ids and several predecessors are possible and harmless.
 */
export class EventStream {
  /** In document order. */
  readonly events: readonly StreamEvent[]
  #graph: Graph | undefined

  /** @param events not copied: a working copy may replace events at their positions while it owns them */
  constructor(events: readonly StreamEvent[]) {
    this.events = events
  }

  /** The stream of an immutable list: its links are computed once for the lifetime of the list. */
  static of(events: readonly StreamEvent[]): EventStream {
    const stream = new EventStream(events)
    const memo = listMemoOf(events)
    memo.graph ??= linkEvents(events)
    stream.#graph = memo.graph
    return stream
  }

  /**
   * The same events with other states. The links are reused.
   *
   * @param events the same number, with the same `id`, `next` and `prev` in the same order; not checked
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

  /** The root is still `init`: no event of the stream is worked or due until the root is started. */
  get held(): boolean {
    return this.root?.status === 'init'
  }

  /** An operator has suspended the open stream: it begins nothing, and its limits stand still. */
  get suspended(): boolean {
    return this.root?.lc.suspended !== undefined && !isFinal(this.root)
  }

  /** The root's status is final. */
  get done(): boolean {
    return this.root !== undefined && isFinal(this.root)
  }

  /** Whether its end as a whole undoes first what it did. */
  get compensates(): boolean {
    return this.compensating || (!this.done && this.root?.lc.onFailure === 'compensate')
  }

  /** Whether it is undoing what it did. */
  get compensating(): boolean {
    return this.root?.lc.outcome === 'compensating' && !isFinal(this.root)
  }

  /** Whether the event keeps a stream that blocks on failures from going on above it. */
  blocks(position: number): boolean {
    const event = this.events[position]
    if (this.root?.lc.onFailure !== 'block' || event?.status !== 'aborted') return false
    if (isSkipped(event) || isSuperseded(event) || position === 0) return false
    return !this.predecessorPositions(position).some(at => isFinal(this.events[at] ?? event))
  }

  isRoot(event: StreamEvent): boolean {
    return this.root?.id === event.id
  }

  /** The first event with this id. */
  find(id: string): StreamEvent | undefined {
    return this.at(this.positionOf(id))
  }

  /** Position of the first event with this id, or -1. */
  positionOf(id: string): number {
    return this.#links.position.get(id) ?? -1
  }

  at(position: number): StreamEvent | undefined {
    return this.events[position]
  }

  /** False for a duplicate: an earlier event has the same id. */
  counts(position: number): boolean {
    const event = this.events[position]
    if (event === undefined) return false
    const first = this.#links.position
    return first.size === this.events.length || first.get(event.id) === position
  }

  /** Direct successors without superseded ones: the ids in `next` and the events whose `prev` names this event. */
  successors(event: StreamEvent): EventSuccessors {
    const position = this.positionOf(event.id)
    return {
      events: this.successorPositions(position).flatMap(at => this.events[at] ?? []),
      missing: this.missingIds(position),
    }
  }

  /** Whether a successor is open or missing, so that the event waits. A waiting join is open. */
  openSuccessors(event: StreamEvent): boolean {
    const position = this.positionOf(event.id)
    return this.missingIds(position).length > 0 || (this.#links.successors[position] ?? []).some(at => this.#isOpen(at))
  }

  #isOpen(position: number): boolean {
    const event = this.events[position]
    return event !== undefined && !isSuperseded(event) && !isFinal(event)
  }

  /** The event has no successors, superseded ones included: only its own worker ends it. */
  isLeaf(position: number): boolean {
    return this.followingPositions(position).length === 0
  }

  /** Positions of direct successors, superseded ones included. */
  followingPositions(position: number): readonly number[] {
    return this.#links.successors[position] ?? []
  }

  /** Positions of direct successors without superseded ones. */
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

  /** All descendants, superseded ones too, each once, children first. Every other event is below the root. */
  descendantPositions(position: number): number[] {
    if (position === 0) return this.childrenFirst().filter(at => at !== 0)
    return postOrder(position, at => this.#links.successors[at] ?? [])
  }

  /** All positions without duplicates, every event after its successors, as far as cycles allow. */
  childrenFirst(): readonly number[] {
    const links = this.#links
    if (links.childrenFirst !== undefined) return links.childrenFirst
    const all = [...links.position.values()]
    links.childrenFirst = postOrder(-1, at => (at < 0 ? all : (links.successors[at] ?? [])))
    return links.childrenFirst
  }

  /** The first join of this event's forks that still waits for its branches. */
  waitingJoin(position: number): number | undefined {
    return (this.#links.successors[position] ?? []).find(at => {
      const event = this.events[at]
      return event !== undefined && isWaitingJoin(event) && !isSuperseded(event)
    })
  }

  /** The nearest final ancestor, if any: the event is then *ended above*. The root is above every event. */
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

/** Links between events, by position in the list. They do not depend on statuses, so status changes keep them valid. */
export interface Graph {
  /** Position of the first event with an id. */
  readonly position: ReadonlyMap<string, number>
  /** Positions of direct successors: those in `next` first, then those whose `prev` names the event. */
  readonly successors: readonly (readonly number[])[]
  readonly predecessors: readonly (readonly number[])[]
  /** Ids in `next` that no event has. */
  readonly missing: ReadonlyMap<number, readonly string[]>
  /** Positions, every event after its successors; computed when it is asked for. */
  childrenFirst: readonly number[] | undefined
}

/**
 * Reads the links of a list of events. On duplicate ids the first event wins and the others are ignored. Links of an
 * event to itself and links to the root are ignored: the root has no predecessor and waits for all other events.
 */
export function linkEvents(events: readonly StreamEvent[]): Graph {
  const position = new Map<string, number>()
  events.forEach((event, at) => {
    if (!position.has(event.id)) position.set(event.id, at)
  })
  const successors: number[][] = events.map(() => [])
  const predecessors: number[][] = events.map(() => [])
  const missing = new Map<number, string[]>()
  /** For each event, the one that named it last: an event that names another twice is linked once. */
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
  return { position, successors, predecessors, missing, childrenFirst: undefined }
}

function append(lists: Map<number, string[]>, at: number, id: string): void {
  const list = lists.get(at)
  if (list === undefined) lists.set(at, [id])
  else list.push(id)
}

/** All positions reachable from the start, without the start; each once, nearest first. */
export function reach(start: number, neighbours: (at: number) => readonly number[]): number[] {
  const known = new Set([start])
  const found: number[] = []
  for (let queue = [start]; queue.length > 0; ) {
    const following: number[] = []
    for (const at of queue) {
      for (const neighbour of neighbours(at)) {
        if (known.has(neighbour)) continue
        known.add(neighbour)
        found.push(neighbour)
        following.push(neighbour)
      }
    }
    queue = following
  }
  return found
}

/**
 * All reachable positions, each after its successors, as far as cycles allow. Not recursive: a foreign chain may be as
 * long as the document allows.
 */
function postOrder(start: number, successors: (at: number) => readonly number[]): number[] {
  const known = new Set([start])
  const found: number[] = []
  const stack = [{ at: start, following: successors(start), visited: 0 }]
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const next = top.following[top.visited++]
    if (next === undefined) {
      stack.pop()
      if (top.at !== start) found.push(top.at)
    } else if (!known.has(next)) {
      known.add(next)
      stack.push({ at: next, following: successors(next), visited: 0 })
    }
  }
  return found
}

/** Open events of a stream, sorted by id. */
export interface OpenEvents {
  /** Open events without open events below: the stream waits on these. Events gated after others are left out, unless nothing else is open. */
  readonly leaves: readonly StreamEvent[]
  /** `init` events that can be started. */
  readonly ready: readonly StreamEvent[]
}

/**
 * Finds leaves and ready events among the open events of a stream. Open events below a final one, which foreign writers
 * may leave, are neither: no event above depends on them. In a held stream only the root can be started, in a suspended
 * one nothing.
 */
export function openWork(stream: EventStream, open: readonly StreamEvent[]): OpenEvents {
  if (stream.held && stream.root !== undefined) return { leaves: [stream.root], ready: [] }
  const positions = open.map(({ id }) => stream.positionOf(id))
  const isAbove = reached(stream, positions, at => stream.predecessorPositions(at))
  const hasEndedAbove = reached(stream, finalPositions(stream), at => stream.successorPositions(at))
  const live = sortedById(
    positions.filter(at => hasEndedAbove[at] === 0).flatMap(at => stream.at(at) ?? []),
    ({ id }) => id,
  )
  const lowest = live.filter(event => isAbove[stream.positionOf(event.id)] === 0)
  const leaves = lowest.filter(event => !waitsForEvents(event))
  return {
    leaves: leaves.length > 0 ? leaves : lowest,
    ready: stream.suspended ? [] : live.filter(event => event.status === 'init' && !isGated(event)),
  }
}

/** Open events without superseded ones; of events with the same id only the first. */
export function openEvents(stream: EventStream): StreamEvent[] {
  return stream.events.filter((event, at) => !isFinal(event) && !isSuperseded(event) && stream.counts(at))
}

function finalPositions(stream: EventStream): number[] {
  const found: number[] = []
  for (const [at, event] of stream.events.entries()) if (isFinal(event) && !isSuperseded(event)) found.push(at)
  return found
}

/** Marks by position what is reached from these by at least one step. Each event is visited once, so cycles end. */
function reached(
  stream: EventStream,
  from: readonly number[],
  neighbours: (position: number) => readonly number[],
): Uint8Array {
  const marks = new Uint8Array(stream.events.length)
  const left = [...from]
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    for (const neighbour of neighbours(at)) {
      if (marks[neighbour] === 1) continue
      marks[neighbour] = 1
      left.push(neighbour)
    }
  }
  return marks
}

import { nextIds, type StreamEvent } from './event.ts'

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
  const seen = new Set<number>()
  const connect = (from: number, to: number) => {
    const edge = from * events.length + to
    if (to === 0 || from === to || seen.has(edge)) return
    seen.add(edge)
    successors[from]?.push(to)
    predecessors[to]?.push(from)
  }
  events.forEach((event, at) => {
    if (position.get(event.id) !== at) return
    for (const id of nextIds(event)) {
      const to = position.get(id)
      if (to !== undefined) connect(at, to)
      else append(missing, at, id)
    }
  })
  events.forEach((event, at) => {
    const from = event.prev === '' ? undefined : position.get(event.prev)
    if (from !== undefined && position.get(event.id) === at) connect(from, at)
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
export function postOrder(start: number, successors: (at: number) => readonly number[]): number[] {
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

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

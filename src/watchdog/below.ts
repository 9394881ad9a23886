import { isFinal, isSuperseded } from '../stream/event.ts'
import type { EventStream } from '../stream/event-stream.ts'

/** Positions below any of these; of those in a cycle the first is not. Each is passed once: a stranger's chain may be long. */
export function allBelow(stream: EventStream, positions: readonly number[]): ReadonlySet<number> {
  const below = new Set<number>()
  for (const first of positions) {
    if (below.has(first)) continue
    const left = [first]
    for (let at = left.pop(); at !== undefined; at = left.pop()) {
      for (const next of stream.successorPositions(at)) {
        if (next === first || below.has(next)) continue
        below.add(next)
        left.push(next)
      }
    }
  }
  return below
}

/**
 * Counts the open events that are ended with one after another: each counts with the first that it is at or below. So they
 * add up to what is ended in truth, and each is passed once, however strangers link them.
 */
export class OpenCount {
  readonly #stream: EventStream
  readonly #passed = new Set<number>()

  constructor(stream: EventStream) {
    this.#stream = stream
  }

  /** Open events at and below a position that have not been counted yet. */
  from(position: number): number {
    // below the root is everything, linked or not
    const left = position === 0 ? [0, ...this.#stream.childrenFirst()] : [position]
    let open = 0
    for (let at = left.pop(); at !== undefined; at = left.pop()) {
      if (this.#passed.has(at)) continue
      this.#passed.add(at)
      if (this.#isOpen(at)) open += 1
      for (const next of this.#stream.followingPositions(at)) if (!this.#passed.has(next)) left.push(next)
    }
    return open
  }

  #isOpen(position: number): boolean {
    const event = this.#stream.at(position)
    return event !== undefined && !isFinal(event) && !isSuperseded(event)
  }
}

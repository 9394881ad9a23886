/**
 * The cycles of a graph: its strongly connected components of more than one node, each in the order in which it is
 * walked (Tarjan). Without recursion: chains of strangers may be as long as a document allows.
 */
export function cyclesOf(successors: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const search = new Search(successors)
  for (let at = 0; at < successors.length; at++) search.from(at)
  return search.found
}

interface Visit {
  readonly at: number
  following: number
}

class Search {
  readonly found: number[][] = []
  readonly #successors: readonly (readonly number[])[]
  /** When a node was first met, and the earliest of those it leads back to. */
  readonly #met = new Map<number, number>()
  readonly #lowest = new Map<number, number>()
  readonly #trail: number[] = []
  readonly #onTrail = new Set<number>()

  constructor(successors: readonly (readonly number[])[]) {
    this.#successors = successors
  }

  from(start: number): void {
    if (this.#met.has(start)) return
    const visits = [this.#enter(start)]
    for (let top = visits.at(-1); top !== undefined; top = visits.at(-1)) {
      const next = this.#successors[top.at]?.[top.following++]
      if (next === undefined) {
        visits.pop()
        this.#leave(top.at, visits.at(-1)?.at)
      } else if (!this.#met.has(next)) visits.push(this.#enter(next))
      else if (this.#onTrail.has(next)) this.#lower(top.at, this.#met.get(next))
    }
  }

  #enter(at: number): Visit {
    this.#met.set(at, this.#met.size)
    this.#lowest.set(at, this.#met.size - 1)
    this.#trail.push(at)
    this.#onTrail.add(at)
    return { at, following: 0 }
  }

  #leave(at: number, from: number | undefined): void {
    if (from !== undefined) this.#lower(from, this.#lowest.get(at))
    if (this.#lowest.get(at) !== this.#met.get(at)) return
    const component = this.#trail.splice(this.#trail.lastIndexOf(at))
    for (const member of component) this.#onTrail.delete(member)
    if (component.length > 1) this.found.push(component)
  }

  #lower(at: number, to = Number.POSITIVE_INFINITY): void {
    this.#lowest.set(at, Math.min(this.#lowest.get(at) ?? to, to))
  }
}

interface Timed<Item> {
  readonly atMs: number
  readonly item: Item
}

/** The latest of many, by time. What it holds is bounded by what it keeps, however many are added. */
export class Latest<Item> {
  readonly #keep: number
  #held: Timed<Item>[] = []
  #floorMs = Number.NEGATIVE_INFINITY
  #dropped = 0

  /** @param keep how many; `Infinity` for all */
  constructor(keep: number) {
    this.#keep = keep
  }

  /** What is earlier than this, epoch ms, cannot be among the latest any more. `-Infinity` as long as there is room. */
  get floorMs(): number {
    return this.#floorMs
  }

  /** How many were added and are not among the latest. */
  get dropped(): number {
    return this.#dropped + Math.max(0, this.#held.length - this.#keep)
  }

  add(atMs: number, item: Item): void {
    if (atMs < this.#floorMs) {
      this.#dropped++
      return
    }
    this.#held.push({ atMs, item })
    // A quarter more than is kept: sorting is rare, and so is what is held for nothing.
    if (this.#held.length > this.#keep * 1.25) this.#prune()
  }

  /** Oldest first; what happened at the same time stays in the order in which it was added. */
  items(): readonly Item[] {
    this.#prune()
    return this.#held.map(({ item }) => item)
  }

  #prune(): void {
    this.#held.sort((a, b) => a.atMs - b.atMs)
    const excess = this.#held.length - this.#keep
    if (excess < 0) return
    this.#held.splice(0, excess)
    this.#dropped += excess
    this.#floorMs = this.#held[0]?.atMs ?? Number.POSITIVE_INFINITY
  }
}

/** The first of many in an order, sorted. Few of them are ever held at once, and those behind are not sorted. */
export function firstOf<Item>(items: Iterable<Item>, count: number, compare: (a: Item, b: Item) => number): Item[] {
  let held: Item[] = []
  let last: Item | undefined
  for (const item of items) {
    if (last !== undefined && compare(item, last) >= 0) continue
    held.push(item)
    if (held.length < 2 * count) continue
    held = held.sort(compare).slice(0, count)
    last = held.at(-1)
  }
  return held.sort(compare).slice(0, count)
}

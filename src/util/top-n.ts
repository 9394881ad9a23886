interface Timed<Item> {
  readonly atMs: number
  readonly item: Item
}

/** Keeps the latest items by time. Its memory depends on the number it keeps, not on the number added. */
export class Latest<Item> {
  readonly #keep: number
  #held: Timed<Item>[] = []
  #floorMs = Number.NEGATIVE_INFINITY
  #dropped = 0

  /** @param keep maximum number of items; `Infinity` for all */
  constructor(keep: number) {
    this.#keep = keep
  }

  /** Items earlier than this, epoch ms, can no longer be among the latest. `-Infinity` while there is room. */
  get floorMs(): number {
    return this.#floorMs
  }

  /** The number of added items that are not among the latest. */
  get dropped(): number {
    return this.#dropped + Math.max(0, this.#held.length - this.#keep)
  }

  add(atMs: number, item: Item): void {
    if (atMs < this.#floorMs) {
      this.#dropped++
      return
    }
    this.#held.push({ atMs, item })
    // A quarter more than is kept, so that sorting is rare.
    if (this.#held.length > this.#keep * 1.25) this.#prune()
  }

  /** Oldest first; items of the same time stay in the order in which they were added. */
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

/** The first `count` items in an order, sorted. At most twice as many are held at once. */
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

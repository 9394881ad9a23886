/** So many streams in which there was nothing to do are remembered: some 30 MB. */
const MOST_STREAMS = 200_000

/** Streams that were looked at, and from when on it is worth to look again although they stay as they are, epoch ms. */
export class LookedAt {
  readonly #streams = new Map<string, { readonly etag: string; readonly againMs: number }>()
  readonly #most: number

  constructor(most = MOST_STREAMS) {
    this.#most = most
  }

  remember(name: string, etag: string, againMs: number): void {
    this.#streams.delete(name)
    this.#streams.set(name, { etag, againMs })
    if (this.#streams.size <= this.#most) return
    for (const oldest of this.#streams.keys()) {
      this.#streams.delete(oldest)
      return
    }
  }

  /** When to look again at the stream in this state; `undefined` if it is not known: now. */
  againMs(name: string, etag: string): number | undefined {
    const seen = this.#streams.get(name)
    return seen?.etag === etag ? seen.againMs : undefined
  }
}

/** A uniform sample of what is offered, in an order of chance: workers that see the same do not all begin with the same. */
export class Sample<Item> {
  readonly #items: Item[] = []
  readonly #most: number
  readonly #random: () => number
  #offered = 0

  constructor(most: number, random: () => number) {
    this.#most = most
    this.#random = random
  }

  offer(item: Item): void {
    this.#offered += 1
    if (this.#items.length < this.#most) this.#items.push(item)
    else {
      const at = Math.floor(this.#random() * this.#offered)
      if (at < this.#most) this.#items[at] = item
    }
  }

  /** More was offered than is kept. */
  get isCut(): boolean {
    return this.#offered > this.#items.length
  }

  take(): readonly Item[] {
    for (let at = this.#items.length - 1; at > 0; at--) {
      const other = Math.floor(this.#random() * (at + 1))
      const [item, swapped] = [this.#items[at], this.#items[other]]
      if (item === undefined || swapped === undefined) break
      this.#items[at] = swapped
      this.#items[other] = item
    }
    return this.#items
  }
}

import { setImmediate as otherWork } from 'node:timers/promises'

/** Collects items during a write and writes them together. Only `end` waits for writes. */
export class WriteBuffer<Item> {
  readonly #write: (items: readonly Item[]) => Promise<void>
  #waiting: Item[] = []
  #writing: Promise<void> | undefined

  /** @param write must not reject */
  constructor(write: (items: readonly Item[]) => Promise<void>) {
    this.#write = write
  }

  add(...items: readonly Item[]): void {
    this.#waiting.push(...items)
    this.#writing ??= this.#drain()
  }

  /** Resolves when all added items are written. */
  async end(): Promise<void> {
    await this.#writing
  }

  async #drain(): Promise<void> {
    await otherWork()
    while (this.#waiting.length > 0) {
      const items = this.#waiting
      this.#waiting = []
      await this.#write(items)
    }
    this.#writing = undefined
  }
}

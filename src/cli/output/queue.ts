/** Characters that may wait for a slow reader. */
const MOST_WAITING = 256 * 1024

/** What a program says while it works, written in order. Whoever produces it waits for room, so that memory is bounded. */
export class OutputQueue {
  #written = Promise.resolve()
  #waiting = 0
  #less = Promise.withResolvers<void>()

  /**
   * Writes once all before it is written.
   * @param length number of characters
   */
  add(length: number, write: () => Promise<void>): void {
    this.#waiting += length
    this.#written = this.#written
      .then(write)
      .catch(() => undefined)
      .then(() => {
        this.#waiting -= length
        this.#less.resolve()
        this.#less = Promise.withResolvers()
      })
  }

  /** Whether so much waits that nothing more should be produced. */
  get isFull(): boolean {
    return this.#waiting >= MOST_WAITING
  }

  /** Waits while the reader is too slow, unless the signal aborts: whoever ends the program does not wait for a reader. */
  async room(signal: AbortSignal): Promise<void> {
    if (!this.isFull) return
    const stopped = Promise.withResolvers<void>()
    const stop = () => stopped.resolve()
    signal.addEventListener('abort', stop, { once: true })
    try {
      while (this.isFull && !signal.aborted) await Promise.race([this.#less.promise, stopped.promise])
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  /** Resolves when everything is written. */
  flush(): Promise<void> {
    return this.#written
  }
}

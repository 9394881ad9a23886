/** What is remembered of a stream from one listing to the next. */
export interface RememberedStream {
  /** Name and ETag, each in memory of its own: cut out of a listing they would keep the whole page. A hash may replace the ETag. */
  readonly name: string
  etag: string | number
  /** Number of the last listing that found the stream; `ChangedStreams` sets it. */
  listing: number
}

/**
 * Finds what changed between two listings of the same streams. For each listing call `begin`; then `skip` with every name
 * that the store offers, so that the rows of unchanged streams need not be made; `take` with what is to be remembered of
 * each changed one; and `end` once the listing came to its end. A listing that fails loses nothing: only a whole one tells
 * what is gone.
 */
export class ChangedStreams<Remembered extends RememberedStream> {
  readonly #streams = new Map<string, Remembered>()
  readonly #capacity: number
  /** 0 stands for none. */
  #listing = 1
  /** Number of remembered streams that the current listing has found. */
  #found = 0

  /** @param capacity above it the stream that was added first is forgotten */
  constructor(capacity = Number.POSITIVE_INFINITY) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#streams.size
  }

  get(name: string): Remembered | undefined {
    return this.#streams.get(name)
  }

  values(): IterableIterator<Remembered> {
    return this.#streams.values()
  }

  begin(): void {
    this.#listing += 1
    this.#found = 0
  }

  /**
   * Whether the row is not needed: the stream has the ETag under which it was taken, which also means that it is not gone.
   * @param needsRow asks for the row of an unchanged stream all the same
   */
  skip(name: string, etag: Remembered['etag'], needsRow?: (stream: Remembered) => boolean): boolean {
    const stream = this.#streams.get(name)
    if (stream?.etag !== etag) return false
    this.#find(stream)
    return needsRow?.(stream) !== true
  }

  /** Remembers a stream as this listing found it, in place of what was remembered of it. */
  take(stream: Remembered): void {
    stream.listing = this.#streams.get(stream.name)?.listing ?? 0
    this.#streams.set(stream.name, stream)
    this.#find(stream)
    if (this.#streams.size > this.#capacity) this.#forgetOldest()
  }

  forget(name: string): void {
    const stream = this.#streams.get(name)
    if (stream?.listing === this.#listing) this.#found -= 1
    this.#streams.delete(name)
  }

  /** Forgets the streams that the listing did not find, and returns them. */
  end(): readonly Remembered[] {
    if (this.#found === this.#streams.size) return []
    const gone = [...this.#streams.values()].filter(({ listing }) => listing !== this.#listing)
    for (const { name } of gone) this.#streams.delete(name)
    return gone
  }

  #find(stream: Remembered): void {
    if (stream.listing === this.#listing) return
    stream.listing = this.#listing
    this.#found += 1
  }

  #forgetOldest(): void {
    const [oldest = ''] = this.#streams.keys()
    this.forget(oldest)
  }
}

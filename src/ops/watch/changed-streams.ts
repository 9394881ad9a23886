/** The remembered state of a stream between listings. */
export interface RememberedStream {
  /** Name and ETag, copied with `ownText`: slices of a listing would keep the whole page in memory. A hash may replace the ETag. */
  readonly name: string
  etag: string | number
  /** Number of the last listing that found the stream; `ChangedStreams` sets it. */
  listing: number
}

/**
 * Finds the differences between two listings of the same streams. For each listing call `begin`; `skip` with every name
 * that the store offers, so that the rows of unchanged streams need not be made; `take` with the new state of each
 * changed stream; and `end` after a whole listing. A failed listing loses nothing: only a whole one shows which streams
 * are gone.
 */
export class ChangedStreams<Remembered extends RememberedStream> {
  readonly #streams = new Map<string, Remembered>()
  readonly #capacity: number
  /** 0 is none. */
  #listing = 1
  /** Number of remembered streams that the current listing has found. */
  #found = 0

  /** @param capacity the maximum number of streams; above it the one that was added first is evicted */
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
   * Whether the row is not needed: the ETag is unchanged. Also records that the stream still exists.
   * @param needsRow true to get the row of an unchanged stream nevertheless
   */
  skip(name: string, etag: Remembered['etag'], needsRow?: (stream: Remembered) => boolean): boolean {
    const stream = this.#streams.get(name)
    if (stream?.etag !== etag) return false
    this.#find(stream)
    return needsRow?.(stream) !== true
  }

  /** Remembers the new state of a stream from this listing. */
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

  /** Forgets and returns the streams that the listing did not find. */
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

/**
 * 53 bits of an ETag (cyrb53), in place of some 40 bytes of text: two ETags of the same stream share them once in 10^16
 * changes.
 */
export function etagHash(etag: string): number {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let at = 0; at < etag.length; at++) {
    const unit = etag.charCodeAt(at)
    high = Math.imul(high ^ unit, 2654435761)
    low = Math.imul(low ^ unit, 1597334677)
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
  return 2 ** 32 * (low & 0x1fffff) + (high >>> 0)
}

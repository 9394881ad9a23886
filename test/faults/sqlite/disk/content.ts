/** The granularity of a torn write, bytes. */
const SECTOR = 512

/** One change of a file. With only `size` it was truncated, or extended with zeros. */
export type Change = { readonly offset: number; readonly data: Buffer } | { readonly size: number }

/** The bytes of a file, growing. */
export class Content {
  #bytes: Buffer
  #size: number

  constructor(bytes = Buffer.alloc(0)) {
    this.#bytes = bytes
    this.#size = bytes.length
  }

  copy(): Content {
    return new Content(Buffer.from(this.bytes))
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#size)
  }

  apply(change: Change): void {
    if ('size' in change) this.#resize(change.size)
    else this.#write(change.offset, change.data)
  }

  /** Some sectors of it arrive, some do not. */
  tear(change: Change, random: () => number): void {
    if ('size' in change) return
    const { offset, data } = change
    for (let from = 0; from < data.length; ) {
      const to = Math.min(data.length, from + SECTOR - ((offset + from) % SECTOR))
      if (random() < 0.5) this.#write(offset + from, data.subarray(from, to))
      from = to
    }
  }

  /** The file has its new size, and zeros instead of its content. */
  onlySize(change: Change): void {
    const size = 'size' in change ? change.size : change.offset + change.data.length
    if (size > this.#size) this.#resize(size)
  }

  #write(offset: number, data: Buffer): void {
    if (offset + data.length > this.#size) this.#resize(offset + data.length)
    data.copy(this.#bytes, offset)
  }

  #resize(size: number): void {
    if (size > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(size, this.#bytes.length * 2))
      this.bytes.copy(larger)
      this.#bytes = larger
    }
    if (size < this.#size) this.#bytes.fill(0, size, this.#size)
    this.#size = size
  }
}

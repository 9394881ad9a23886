const FIRST_BYTES = 64 * 1024

/** Where a text lies. */
export interface Place {
  readonly from: number
  readonly to: number
}

/** Texts one behind the other in one piece of memory outside the heap: dropped together, they leave no garbage there. */
export class TextMemory {
  #bytes = Buffer.alloc(0)
  #used = 0

  /** How many bytes the texts take. */
  get used(): number {
    return this.#used
  }

  add(text: string): Place {
    const most = this.#used + Buffer.byteLength(text)
    if (most > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(FIRST_BYTES, this.#bytes.length * 2, most))
      this.#bytes.copy(larger, 0, 0, this.#used)
      this.#bytes = larger
    }
    const from = this.#used
    this.#used += this.#bytes.write(text, from)
    return { from, to: this.#used }
  }

  /** The bytes of a text, until the next is added or all are dropped. */
  bytes({ from, to }: Place): Uint8Array {
    return this.#bytes.subarray(from, to)
  }

  text({ from, to }: Place): string {
    return this.#bytes.toString('utf8', from, to)
  }

  clear(): void {
    this.#used = 0
  }
}

/** The end of what somebody else writes, however much that is: it never takes more memory than this. */
export class Tail {
  readonly #limitBytes: number
  #kept = Buffer.alloc(0)
  #isCut = false

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** Whether something stood in front of what is kept. */
  get isCut(): boolean {
    return this.#isCut
  }

  add(chunk: Uint8Array): void {
    const room = this.#limitBytes - Math.min(chunk.length, this.#limitBytes)
    if (chunk.length > this.#limitBytes || this.#kept.length > room) this.#isCut = true
    // copies: a slice would keep the whole chunk
    const before = room === 0 ? Buffer.alloc(0) : this.#kept.subarray(-room)
    this.#kept = Buffer.concat([before, chunk.subarray(-this.#limitBytes)])
  }

  bytes(): Uint8Array {
    return this.#kept
  }
}

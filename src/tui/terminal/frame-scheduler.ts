/** What the gate needs of time; tests hand in their own. */
export interface GateClock {
  nowMs(): number
  /** Runs something later. @returns what keeps it from being run */
  after(delayMs: number, run: () => void): () => void
  /** Runs something when what is being done now is done. */
  soon(run: () => void): void
}

/** Of a core, at most a quarter goes into frames nobody asked for. */
const SHARE = 4
const LEAST_APART_MS = 33

/**
 * Decides when a frame is drawn. What the data asks for is gathered and waits its turn; who pressed a key waits for nothing.
 */
export class FrameScheduler {
  readonly #draw: () => void
  readonly #clock: GateClock
  #begunMs = Number.NEGATIVE_INFINITY
  #costMs = 0
  #cancel: (() => void) | undefined
  #isSoon = false
  #isClosed = false

  constructor(draw: () => void, clock: GateClock) {
    this.#draw = draw
    this.#clock = clock
  }

  /** A frame for changed data: at least 33 ms after the last began, and four times as long as that one took. */
  request(): void {
    if (this.#isClosed || this.#isSoon || this.#cancel !== undefined) return
    const dueMs = this.#begunMs + Math.max(LEAST_APART_MS, SHARE * this.#costMs)
    this.#cancel = this.#clock.after(Math.max(0, dueMs - this.#clock.nowMs()), () => this.#run())
  }

  /** A frame for a key or another size: at once, one for all keys that came together. */
  flush(): void {
    if (this.#isClosed || this.#isSoon) return
    this.#isSoon = true
    this.#clock.soon(() => this.#run())
  }

  /** What the last frame took, ms. */
  took(costMs: number): void {
    this.#costMs = costMs
  }

  /** Nothing is drawn any more. */
  close(): void {
    this.#isClosed = true
    this.#cancel?.()
  }

  #run(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#isSoon = false
    if (this.#isClosed) return
    this.#begunMs = this.#clock.nowMs()
    this.#draw()
  }
}

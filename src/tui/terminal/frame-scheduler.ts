/** Time as the scheduler needs it; replaced in tests. */
export interface FrameClock {
  nowMs(): number
  /** Runs a function later. @returns a function that cancels it */
  after(delayMs: number, run: () => void): () => void
  /** Runs a function after the current task. */
  soon(run: () => void): void
}

/** Frames for changed data may use a quarter of a core. */
const SHARE = 4
const LEAST_APART_MS = 33

/** Decides when to draw. Requests for changed data are combined and delayed; frames for keys are drawn at once. */
export class FrameScheduler {
  readonly #draw: () => void
  readonly #clock: FrameClock
  #startedMs = Number.NEGATIVE_INFINITY
  #costMs = 0
  #cancel: (() => void) | undefined
  #isSoon = false
  #isClosed = false

  constructor(draw: () => void, clock: FrameClock) {
    this.#draw = draw
    this.#clock = clock
  }

  /** Requests a frame for changed data: at least 33 ms, and four times its cost, after the start of the last one. */
  request(): void {
    if (this.#isClosed || this.#isSoon || this.#cancel !== undefined) return
    const dueMs = this.#startedMs + Math.max(LEAST_APART_MS, SHARE * this.#costMs)
    this.#cancel = this.#clock.after(Math.max(0, dueMs - this.#clock.nowMs()), () => this.#run())
  }

  /** Requests a frame for a key or a resize: at once, one for all keys of a task. */
  flush(): void {
    if (this.#isClosed || this.#isSoon) return
    this.#isSoon = true
    this.#clock.soon(() => this.#run())
  }

  /** Records the cost of the last frame, ms. */
  recordCost(costMs: number): void {
    this.#costMs = costMs
  }

  /** Draws nothing any more. */
  close(): void {
    this.#isClosed = true
    this.#cancel?.()
  }

  #run(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#isSoon = false
    if (this.#isClosed) return
    this.#startedMs = this.#clock.nowMs()
    this.#draw()
  }
}

/** The longest delay of a Node timer, ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A time limit for repeated polls. The first poll may exceed it; later ones are cut short. */
export class WaitLimit {
  readonly #abort = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined
  #passed = false
  #cuts = false

  /** @param ms from now; 0 has passed already, `undefined` is no limit */
  constructor(ms: number | undefined) {
    if (ms === 0) this.#pass()
    else if (ms !== undefined) this.#arm(ms)
  }

  /** Aborts when the limit passes, but not before `cutPolls` was called. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  get passed(): boolean {
    return this.#passed
  }

  /** From now on the limit cuts polls, and the pauses between them, short. */
  cutPolls(): void {
    this.#cuts = true
    if (this.#passed) this.#abort.abort()
  }

  clear(): void {
    clearTimeout(this.#timer)
  }

  #arm(ms: number): void {
    const part = Math.min(ms, LONGEST_TIMER_MS)
    this.#timer = setTimeout(() => (ms > part ? this.#arm(ms - part) : this.#pass()), part)
  }

  #pass(): void {
    this.#passed = true
    if (this.#cuts) this.#abort.abort()
  }
}

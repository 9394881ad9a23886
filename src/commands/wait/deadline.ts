/** Node's timers cannot be longer, ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A limit of time for looking again and again. */
export class Deadline {
  readonly #abort = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined
  #passed = false
  #cuts = false

  /** @param ms from now on; 0 has passed already, without it there is no limit */
  constructor(ms: number | undefined) {
    if (ms === 0) this.#pass()
    else if (ms !== undefined) this.#arm(ms)
  }

  /** Aborts when the limit passes, once it may cut looks short. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  get passed(): boolean {
    return this.#passed
  }

  /** From now on a look, and the pause before the next, may be cut short. */
  cutLooks(): void {
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

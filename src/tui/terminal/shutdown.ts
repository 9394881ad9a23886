/** Gathers whatever ends the dashboard from outside: the program's signal, the terminal's, an error that nobody caught. */
export class ShutdownSignals {
  readonly #stop = new AbortController()
  readonly #outer: AbortSignal
  readonly #onOuter = () => this.#stop.abort()
  readonly #failed = Promise.withResolvers<never>()
  #signal: NodeJS.Signals | undefined
  /** What is done when the terminal came back; set by whoever draws. */
  onResume: () => void = () => {}

  constructor(outer: AbortSignal) {
    this.#outer = outer
    outer.addEventListener('abort', this.#onOuter, { once: true })
    if (outer.aborted) this.#onOuter()
    this.#failed.promise.catch(() => {})
  }

  /** Aborted as soon as the dashboard has to end. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  /** The signal of the terminal that ended it, if one did. */
  get stoppedBy(): NodeJS.Signals | undefined {
    return this.#signal
  }

  /** Rejects with the first error that nobody caught. */
  get failed(): Promise<never> {
    return this.#failed.promise
  }

  stop(signal: NodeJS.Signals): void {
    this.#signal ??= signal
    this.#stop.abort()
  }

  fail(error: unknown): void {
    this.#failed.reject(error)
    this.#stop.abort()
  }

  close(): void {
    this.#outer.removeEventListener('abort', this.#onOuter)
  }
}

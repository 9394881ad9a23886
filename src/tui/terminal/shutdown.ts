/**
 * Collects all external reasons to end the dashboard: the program's signal, the terminal's signals, uncaught errors.
 */
export class ShutdownSignals {
  readonly #stop = new AbortController()
  readonly #outer: AbortSignal
  readonly #onOuter = () => this.#stop.abort()
  readonly #failed = Promise.withResolvers<never>()
  #signal: NodeJS.Signals | undefined
  /** Called when the terminal is ours again; set by the drawing code. */
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

  /** The terminal's signal that ended it, if any. */
  get stoppedBy(): NodeJS.Signals | undefined {
    return this.#signal
  }

  /** Rejects with the first uncaught error. */
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

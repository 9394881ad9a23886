/** One abort signal for several reasons to stop and a time limit; cheaper than `AbortSignal.any`, and it cleans up. */
export class TryScope {
  readonly #controller = new AbortController()
  readonly #sources: readonly (AbortSignal | undefined)[]
  readonly #timer: NodeJS.Timeout | undefined
  readonly #stop = (): void => this.#controller.abort()
  timedOut = false

  constructor(sources: readonly (AbortSignal | undefined)[], limitMs: number | undefined) {
    this.#sources = sources
    for (const source of sources) {
      if (source?.aborted) this.#stop()
      source?.addEventListener('abort', this.#stop)
    }
    if (limitMs !== undefined) this.#timer = setTimeout(() => this.#expire(), Math.max(limitMs, 1))
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  end(): void {
    clearTimeout(this.#timer)
    for (const source of this.#sources) source?.removeEventListener('abort', this.#stop)
  }

  #expire(): void {
    this.timedOut = true
    this.#stop()
  }
}

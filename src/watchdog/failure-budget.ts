/** Number of streams in a row that may fail to answer before the pass leaves the rest to the next one. */
const MAX_SILENT = 3
/** How long a change waits for a lease of another process, ms, and the number of such waits in a pass. */
const LEASE_WAIT_MS = 2_000
const MAX_WAITS = 20

/**
 * Limits the failures of a pass. A single stream that does not answer or is leased does not affect the others; if no
 * stream answers, the pass starts nothing more.
 */
export class FailureBudget {
  readonly #stop = new AbortController()
  readonly #silent = new Set<string>()
  #inARow = 0
  #hasAnswered = false
  #waits = 0

  /** Aborts after too many unanswered streams in a row: nothing more is started. */
  get stop(): AbortSignal {
    return this.#stop.signal
  }

  /** Too many streams did not answer and none did: the store itself may be unavailable. */
  get isDoubtful(): boolean {
    return this.#stop.signal.aborted && !this.#hasAnswered
  }

  /** Streams that did not answer. */
  get silentStreams(): ReadonlySet<string> {
    return this.#silent
  }

  /**
   * How long a change waits for a lease of another process, ms: a store full of stuck leases must not delay the pass.
   */
  get leaseWaitMs(): number {
    return this.#waits < MAX_WAITS ? LEASE_WAIT_MS : 0
  }

  answered(): void {
    this.#hasAnswered = true
    this.#inARow = 0
  }

  silent(stream: string): void {
    this.#silent.add(stream)
    this.#inARow += 1
    if (this.#inARow > MAX_SILENT) this.#stop.abort()
  }

  busy(): void {
    this.#waits += 1
  }
}

/** So many streams in a row may fail to answer before the rest is left for the next pass. */
const MAX_SILENT = 3
/** A change waits so long for a lease that another holds, ms, and in a pass so many of them do. */
const LEASE_WAIT_MS = 2_000
const MAX_WAITS = 20

/**
 * How much a pass puts up with. One stream that does not answer, or that is leased, does not keep it from the others; when
 * nothing answers any more it begins nothing.
 */
export class FailureBudget {
  readonly #stop = new AbortController()
  readonly #silent = new Set<string>()
  #inARow = 0
  #hasAnswered = false
  #waits = 0

  /** Aborts when too many in a row did not answer: nothing further is begun. */
  get stop(): AbortSignal {
    return this.#stop.signal
  }

  /** Too many did not answer, and none did: it may be the store. */
  get isDoubtful(): boolean {
    return this.#stop.signal.aborted && !this.#hasAnswered
  }

  /** Streams that did not answer. */
  get silentStreams(): ReadonlySet<string> {
    return this.#silent
  }

  /** How long a change waits for a lease held by another, ms: a store full of stuck leases does not hold up the pass. */
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

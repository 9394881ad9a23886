/** So many streams in a row may fail to answer before the rest is left for the next pass. */
const MAX_SILENT = 3
/** A change waits so long for a lease that another holds, ms, and in a pass so many of them do. */
const LEASE_WAIT_MS = 2_000
const MAX_WAITS = 20

/**
 * How much a pass puts up with. One stream without an answer, or one that is leased, does not keep it from the others; a
 * store that does not answer ends it.
 */
export class Tolerance {
  readonly #stop = new AbortController()
  #hasAnswered = false
  #silent = 0
  #waits = 0

  /** Aborts when too many in a row did not answer: nothing further is begun in this pass. */
  get stop(): AbortSignal {
    return this.#stop.signal
  }

  /** How long a change waits for a lease held by another, ms: a store full of stuck leases does not hold up the pass. */
  get leaseWaitMs(): number {
    return this.#waits < MAX_WAITS ? LEASE_WAIT_MS : 0
  }

  answered(): void {
    this.#hasAnswered = true
    this.#silent = 0
  }

  busy(): void {
    this.#waits += 1
  }

  /** True when too many did not answer, and none did: it is the store. */
  silent(): boolean {
    this.#silent += 1
    if (this.#silent <= MAX_SILENT) return false
    this.#stop.abort()
    return !this.#hasAnswered
  }
}

import type { ChangeOptions, LeaseView } from './store.ts'

/** Reports the attempts of one change to `onLeaseAttempt`. A change under a lease of its caller makes none. */
export class LeaseAttempts {
  readonly #stream: string
  readonly #report: ChangeOptions['onLeaseAttempt']
  #count = 0

  constructor(stream: string, { leaseId, onLeaseAttempt }: ChangeOptions) {
    this.#stream = stream
    this.#report = leaseId === undefined ? onLeaseAttempt : undefined
  }

  /** Whether somebody wants to know: only then it is worth a request to learn who holds the lease. */
  get isReported(): boolean {
    return this.#report !== undefined
  }

  held(waitedMs: number, lease: LeaseView, lastBy?: string): void {
    this.#count += 1
    const by = lastBy === undefined ? {} : { lastBy }
    this.#report?.({ kind: 'held', stream: this.#stream, attempt: this.#count, waitedMs, lease, ...by })
  }

  acquired(waitedMs: number): void {
    this.#report?.({ kind: 'acquired', stream: this.#stream, attempt: this.#count + 1, waitedMs })
    this.#count = 0
  }

  gaveUp(waitedMs: number): void {
    if (this.#count === 0) return
    this.#report?.({ kind: 'given-up', stream: this.#stream, attempt: this.#count, waitedMs })
    this.#count = 0
  }
}

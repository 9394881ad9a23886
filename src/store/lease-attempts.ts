import type { LeaseAttempt, LeaseView } from './store.ts'

/** Reports the attempts of one change to get the lease. */
export class LeaseAttempts {
  readonly #stream: string
  readonly #report: (attempt: LeaseAttempt) => void
  #count = 0

  constructor(stream: string, report: (attempt: LeaseAttempt) => void) {
    this.#stream = stream
    this.#report = report
  }

  held(waitedMs: number, lease: LeaseView, lastBy?: string): void {
    this.#count += 1
    const by = lastBy === undefined ? {} : { lastBy }
    this.#report({ kind: 'held', stream: this.#stream, attempt: this.#count, waitedMs, lease, ...by })
  }

  acquired(waitedMs: number): void {
    this.#report({ kind: 'acquired', stream: this.#stream, attempt: this.#count + 1, waitedMs })
    this.#count = 0
  }

  gaveUp(waitedMs: number): void {
    if (this.#count === 0) return
    this.#report({ kind: 'given-up', stream: this.#stream, attempt: this.#count, waitedMs })
    this.#count = 0
  }
}

import type { BlobState } from '../blobs.ts'
import type { AzureTenure } from './held-lease.ts'

/** A tenure whose change is written, with the state it wrote. */
export interface Parked {
  readonly tenure: AzureTenure
  readonly state: BlobState
}

/**
 * Tenures whose change was reported a moment ago. Who asks for the next change of the stream in the same turn of the
 * event loop goes on under the lease that is held anyway: one round trip instead of acquire, read, write and release.
 * With the end of that turn the lease is given back.
 */
export class ParkedTenures {
  readonly #parked = new Map<string, Parked>()

  /** Keeps the tenure until the end of this turn of the event loop. */
  park(name: string, parked: Parked): void {
    this.end(name)
    this.#parked.set(name, parked)
    setImmediate(() => {
      if (this.#parked.get(name) === parked) this.end(name)
    })
  }

  /** Whether there is one of this stream. */
  has(name: string): boolean {
    return this.#parked.has(name)
  }

  /** Hands the tenure over: who takes it must end it. */
  take(name: string): Parked | undefined {
    const parked = this.#parked.get(name)
    this.#parked.delete(name)
    return parked
  }

  /** Gives the lease back now: somebody else of this process wants it. */
  end(name: string): void {
    void this.take(name)?.tenure.leave()
  }

  endAll(): void {
    for (const name of [...this.#parked.keys()]) this.end(name)
  }
}

import type { EventStore } from '../store/store.ts'
import type { Operation } from '../stream/operations/operation.ts'
import type { Claim } from './claim.ts'
import { type Foreseen, foreseen } from './under-claim.ts'

/** What takes longer to read is left to the heartbeats, bytes. */
const MOST_BYTES = 1024 * 1024

/**
 * Sees what the next heartbeat will be told: that its event was ended or taken away, or has another timeout. Only where a store
 * tells for little that nothing was written: else every look would cost a request.
 */
export class Sentry {
  readonly #store: EventStore
  readonly #claim: Claim
  readonly #touch: Operation
  #mark: string | undefined
  #etag: string | undefined
  #isLooking = false

  /** @param touch the heartbeat */
  constructor(store: EventStore, claim: Claim, touch: Operation) {
    this.#store = store
    this.#claim = claim
    this.#touch = touch
  }

  /** `undefined`: nothing is new, or it cannot be seen; heartbeats find out all the same. Only one look at a time. */
  async look(signal: AbortSignal): Promise<Foreseen | undefined> {
    if (this.#store.changeMark === undefined || this.#isLooking || signal.aborted) return undefined
    this.#isLooking = true
    try {
      const mark = await this.#store.changeMark(signal)
      if (mark === undefined || mark === this.#mark) return undefined
      const stored = await this.#store.read(this.#claim.stream, signal)
      this.#mark = mark
      if (stored !== undefined && (stored.etag === this.#etag || stored.body.length > MOST_BYTES)) return undefined
      this.#etag = stored?.etag
      return foreseen(stored, this.#claim, this.#touch, '', this.#store.nowMs())
    } catch {
      return undefined
    } finally {
      this.#isLooking = false
    }
  }
}

import { type DocumentView, viewOf } from '../ops/read-stream.ts'
import type { EventStore } from '../store/store.ts'
import { fenceOf, isFinal } from '../stream/event.ts'
import type { Claim } from './claim.ts'

/** What takes longer to read is left to the heartbeats, bytes. */
const MOST_BYTES = 1024 * 1024

/**
 * Sees that an event was ended or taken from its worker before a heartbeat is told so. Only where a store tells for little
 * that nothing was written: else every look would cost a request.
 */
export class Sentry {
  readonly #store: EventStore
  readonly #claim: Claim
  #mark: string | undefined
  #isLooking = false

  constructor(store: EventStore, claim: Claim) {
    this.#store = store
    this.#claim = claim
  }

  /** What it cannot see is nothing: heartbeats find out all the same. Only one look at a time. */
  async seesEnd(signal: AbortSignal): Promise<boolean> {
    if (this.#store.changeMark === undefined || this.#isLooking || signal.aborted) return false
    this.#isLooking = true
    try {
      const mark = await this.#store.changeMark(signal)
      if (mark === undefined || mark === this.#mark) return false
      const stored = await this.#store.read(this.#claim.stream, signal)
      this.#mark = mark
      if (stored === undefined) return true
      return stored.body.length <= MOST_BYTES && isEnded(viewOf(stored, this.#store.nowMs()), this.#claim)
    } catch {
      return false
    } finally {
      this.#isLooking = false
    }
  }
}

function isEnded({ document, stream }: DocumentView, { event, fence, born }: Claim): boolean {
  // A writer who knows nothing of lives may have dropped it; the fence tells then.
  if (document.born !== born && document.born !== '') return true
  const position = stream.positionOf(event)
  const found = stream.at(position)
  if (found === undefined || isFinal(found) || fenceOf(found) !== fence) return true
  return stream.finalAncestor(position) !== undefined
}

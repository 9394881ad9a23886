import { type Glob, globOf } from '../ops/glob.ts'
import type { EventStore, Listed } from '../store/store.ts'
import type { LoopOptions } from './loop-types.ts'
import { LookedAt, Sample } from './memory.ts'
import type { Timing } from './timing.ts'
import type { Wanted } from './wanted.ts'

/** A stream that is worth a look, as it was listed. */
export interface Lead {
  readonly name: string
  /** Absent where the document has to be read afresh. */
  readonly etag?: string
  readonly born?: string
  readonly version?: number
}

/** A look at all streams yields at most so many of each kind; more come with the next one. */
const MOST_LEADS = 1_000

/** Finds streams that may have work, from listings alone; nothing is listed while nothing was written. */
export class Survey {
  readonly lookedAt = new LookedAt()
  readonly #store: EventStore
  readonly #wanted: Wanted
  readonly #timing: Timing
  readonly #glob: Glob | undefined
  #mark: string | undefined
  /** When what was seen at the last look is worth another one although nothing was written, epoch ms. */
  #againMs = Number.NEGATIVE_INFINITY

  constructor(store: EventStore, wanted: Wanted, { match }: Pick<LoopOptions, 'match'>, timing: Timing) {
    this.#store = store
    this.#wanted = wanted
    this.#timing = timing
    this.#glob = match === undefined ? undefined : globOf(match)
  }

  /** When to look again at the latest, epoch ms. */
  get againMs(): number {
    return this.#againMs
  }

  /** A look is due by then, whatever the store says. */
  lookBy(ms: number): void {
    this.#againMs = Math.min(this.#againMs, ms)
  }

  /**
   * The streams that are worth a look now, in an order of chance; those of which a listing knows too little come last.
   * @throws the store's faults
   */
  async leads(signal: AbortSignal): Promise<readonly Lead[]> {
    const mark = await this.#store.changeMark?.(signal)
    const nowMs = this.#store.nowMs()
    if (mark !== undefined && mark === this.#mark && nowMs < this.#againMs) return []
    this.#mark = undefined
    this.#againMs = Number.POSITIVE_INFINITY
    const ready = new Sample<Lead>(MOST_LEADS, this.#timing.random)
    const unknown = new Sample<Lead>(MOST_LEADS, this.#timing.random)
    const skip = (name: string, etag: string) => this.#isIdle(name, etag, nowMs)
    const prefix = this.#glob?.prefix
    for await (const page of this.#store.list({ order: 'any', skip, signal, ...(prefix ? { prefix } : {}) })) {
      for (const listed of page) this.#consider(listed, nowMs, ready, unknown)
    }
    // What found no room is found by listing again.
    if (!ready.isCut && !unknown.isCut) this.#mark = mark
    return [...ready.take(), ...unknown.take()]
  }

  /** Not ours, or looked at in this state and without anything to do until later. */
  #isIdle(name: string, etag: string, nowMs: number): boolean {
    if (this.#glob?.matches(name) === false) return true
    const againMs = this.lookedAt.againMs(name, etag)
    if (againMs === undefined || againMs <= nowMs) return false
    this.lookBy(againMs)
    return true
  }

  #consider({ name, etag, lease, summary }: Listed, nowMs: number, ready: Sample<Lead>, unknown: Sample<Lead>): void {
    // Held by somebody until they say otherwise: nothing can be claimed, and waiting would keep other streams waiting.
    if (lease.state === 'leased' && lease.duration === 'infinite') return
    const fromMs = summary === undefined ? nowMs : this.#wanted.worthFrom(summary)
    if (fromMs > nowMs) {
      this.lookedAt.remember(name, etag, fromMs)
      this.lookBy(fromMs)
    } else if (summary === undefined) unknown.offer({ name })
    else ready.offer({ name, etag, born: summary.born, version: summary.version })
  }
}

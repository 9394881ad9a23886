import { type Glob, globOf } from '../ops/glob.ts'
import type { EventStore, Listed } from '../store/store.ts'
import type { Timing } from '../util/clock.ts'
import { LookedAt, Sample } from './memory.ts'
import type { LoopOptions } from './types.ts'
import type { Wanted } from './wanted.ts'

/** A stream that is worth a look, as it was listed. */
export interface Lead {
  readonly name: string
  /** Absent where it is not known in what state the stream is. */
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
  #waitsUntilMs = Number.NEGATIVE_INFINITY
  #isCut = false
  #locked = 0
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

  /** More streams were worth a look than the last listing has yielded. */
  get isCut(): boolean {
    return this.#isCut
  }

  /** Streams that may have work and are leased until somebody says otherwise, as they were listed last. */
  get locked(): number {
    return this.#locked
  }

  /** Until then something that can be claimed is left alone, epoch ms. */
  get waitsUntilMs(): number {
    return this.#waitsUntilMs
  }

  /** Something that can be claimed is left alone until then; a listing begins anew, whoever sees it again says so again. */
  waitFor(ms: number): void {
    this.lookBy(ms)
    this.#waitsUntilMs = Math.max(this.#waitsUntilMs, ms)
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
    this.#waitsUntilMs = Number.NEGATIVE_INFINITY
    this.#locked = 0
    const ready = new Sample<Lead>(MOST_LEADS, this.#timing.random)
    const unknown = new Sample<Lead>(MOST_LEADS, this.#timing.random)
    const skip = (name: string, etag: string) => this.#isIdle(name, etag, nowMs)
    const prefix = this.#glob?.prefix
    for await (const page of this.#store.list({ order: 'any', skip, signal, ...(prefix ? { prefix } : {}) })) {
      for (const listed of page) this.#consider(listed, nowMs, ready, unknown)
    }
    // What found no room is found by listing again.
    this.#isCut = ready.isCut || unknown.isCut
    if (!this.#isCut) this.#mark = mark
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
    const fromMs = summary === undefined ? nowMs : this.#wanted.worthFrom(summary)
    if (fromMs > nowMs) {
      this.lookedAt.remember(name, etag, fromMs)
      this.lookBy(fromMs)
    } else if (lease.state === 'leased' && lease.duration === 'infinite') {
      // Nothing can be claimed, and waiting would keep other streams waiting.
      this.#locked += 1
    } else if (summary === undefined) unknown.offer({ name, etag })
    else ready.offer({ name, etag, born: summary.born, version: summary.version })
  }
}

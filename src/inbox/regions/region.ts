import { StoreUnreachable } from '../../store/errors.ts'
import type { StreamStore } from '../../store/store.ts'
import { InvalidValue } from '../../stream/errors.ts'
import { type Inbox, readInbox } from '../inbox.ts'
import { InboxWriter, type InboxWriterOptions, PutUnknown } from '../writer.ts'

/** Between two looks at a region that is away, ms. */
const PAUSES_MS = [100, 300, 1_000, 2_000, 5_000] as const
/** After so long without an outage the pauses are short again, ms. */
const WELL_MS = 20_000

/** The same inbox in one of two stores, as it is known. */
export interface RegionInbox {
  readonly store: StreamStore
  /** `undefined`: the store does not answer; it is read again before anything is put. */
  readonly inbox: Inbox | undefined
  readonly fault?: unknown
}

/** One of the two stores that records are put into: whether it takes them now, and since when it does not. */
export class Region {
  readonly store: StreamStore
  readonly #expected: Pick<Inbox, 'name' | 'partitions'>
  readonly #options: InboxWriterOptions
  #writer: InboxWriter | undefined
  #pauses = 0
  #pausedMs = Number.NEGATIVE_INFINITY
  #probe: Promise<void> | undefined
  /** Nothing is put into it until it has been read again. */
  isAway = false
  fault: unknown
  /** It is away because it kept records waiting; it has not failed them. */
  isSlow = false
  /** The fault of its outage, as it was told last. */
  told: { readonly fault: unknown } | undefined

  constructor(
    { store, inbox, fault }: RegionInbox,
    expected: Pick<Inbox, 'name' | 'partitions'>,
    options: InboxWriterOptions,
  ) {
    this.store = store
    this.#expected = expected
    this.#options = options
    if (inbox !== undefined) this.#writer = new InboxWriter(store, inbox, options)
    this.isAway = inbox === undefined
    this.fault = fault
  }

  /** It answers, but does not take records, and waiting will not mend that: an inbox that is missing or another, no right. */
  get refuses(): boolean {
    return this.isAway && !passes(this.fault)
  }

  /** Whether it was not told that it is away, or that it refuses. */
  get isNews(): boolean {
    return this.told === undefined || (passes(this.told.fault) && this.refuses)
  }

  /** `undefined` until its inbox was read. */
  get writer(): InboxWriter | undefined {
    return this.#writer
  }

  /** Whether it holds up those who put. */
  get isFull(): boolean {
    return !this.isAway && this.#writer?.isFull === true
  }

  /** Time to the next look at it, ms: longer from look to look, until it has been well for a while. */
  nextPauseMs(nowMs: number): number {
    if (nowMs - this.#pausedMs > WELL_MS) this.#pauses = 0
    this.#pausedMs = nowMs
    return PAUSES_MS[Math.min(this.#pauses++, PAUSES_MS.length - 1)] ?? 0
  }

  /** Reads the inbox again if it is away. What is still being sent from before must have ended. One look at a time. */
  look(signal: AbortSignal, cameBack: () => void): Promise<void> {
    this.#probe ??= this.#look(signal, cameBack).finally(() => {
      this.#probe = undefined
    })
    return this.#probe
  }

  async #look(signal: AbortSignal, cameBack: () => void): Promise<void> {
    try {
      const { name, partitions } = this.#expected
      const inbox = await readInbox(this.store, name, signal)
      if (inbox?.partitions !== partitions) {
        const there =
          inbox === undefined ? `there is no inbox ${name}` : `the inbox ${name} has ${inbox.partitions} partitions`
        throw new InvalidValue(`${there} in ${this.store.address}; the other region has ${partitions}`)
      }
      if (!this.isAway || (this.#writer?.bytes ?? 0) > 0) return
      this.#writer ??= new InboxWriter(this.store, inbox, this.#options)
      cameBack()
    } catch (error) {
      this.fault = error
    }
  }
}

/** Whether a fault of a region ends by itself. */
export function passes(fault: unknown): boolean {
  return fault instanceof StoreUnreachable || fault instanceof PutUnknown
}

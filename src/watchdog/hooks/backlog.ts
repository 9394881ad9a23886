import { readStream, type StreamView } from '../../ops/read-stream.ts'
import type { StreamStore } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'
import type { Timing } from '../../util/clock.ts'
import { ownText } from '../../util/strings.ts'
import type { Expiry } from '../decision.ts'
import type { Hold } from './pending.ts'

/** A stream to read for hooks. */
export interface PendingRead {
  readonly stream: string
  /** Version up to which its history was processed; `undefined`: not at all. */
  readonly before: number | undefined
  readonly notices: readonly Expiry[]
  /** Released once all its deliveries are done or in progress. */
  readonly hold: Hold
}

/** Limits for streams waiting to be read, some 30 MB of names, and for concurrent reads. */
const WAITING = 100_000
const AT_ONCE = 8

/**
 * Streams to be read for hooks. A waiting stream takes only its name, however slow deliveries are. If it changes again
 * meanwhile, it is still read once.
 */
export class Backlog {
  readonly #waiting = new Map<string, PendingRead>()
  readonly #limit: number
  readonly #read: (reading: PendingRead) => Promise<void>
  /** Kept between calls: a new iterator would step over all removed entries again. */
  #order = this.#waiting.values()
  #reading = 0
  #isClosed = false

  constructor(read: (reading: PendingRead) => Promise<void>, limit = WAITING) {
    this.#read = read
    this.#limit = limit
  }

  /** Number of waiting streams. */
  get size(): number {
    return this.#waiting.size
  }

  /** False if the backlog is full or closed; the caller then keeps the hold. */
  add(reading: PendingRead): boolean {
    if (this.#isClosed) return false
    if (this.#merge(reading)) return true
    if (this.#waiting.size >= this.#limit) return false
    this.#waiting.set(reading.stream, { ...reading, stream: ownText(reading.stream) })
    this.#next()
    return true
  }

  /** No further stream is read. */
  close(): void {
    this.#isClosed = true
  }

  #merge(reading: PendingRead): boolean {
    const known = this.#waiting.get(reading.stream)
    if (known === undefined) return false
    this.#waiting.set(known.stream, {
      ...known,
      before: lower(known.before, reading.before),
      notices: [...known.notices, ...reading.notices],
    })
    // The earlier hold covers later passes too.
    reading.hold.release()
    return true
  }

  #next(): void {
    while (this.#reading < AT_ONCE && !this.#isClosed) {
      const first = this.#first()
      if (first === undefined) return
      this.#waiting.delete(first.stream)
      this.#reading += 1
      void this.#read(first).finally(() => {
        this.#reading -= 1
        this.#next()
      })
    }
  }

  #first(): PendingRead | undefined {
    const next = this.#order.next()
    if (next.done !== true) return next.value
    // A finished iterator stays finished.
    this.#order = this.#waiting.values()
    return this.#order.next().value
  }
}

function lower(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : Math.min(a, b)
}

export type ReadResult =
  | { readonly kind: 'read'; readonly view: StreamView }
  /** The stream is gone, or is not a readable event stream: there are no events. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'stopped' }

export interface ReadRetries {
  readonly timing: Timing
  readonly signal: AbortSignal
  /** Called once for a stream whose read is retried. */
  readonly onTrouble: (message: string, error: unknown) => void
}

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

/** Reads a stream with its history, and retries until the store answers: no event must be lost. */
export async function readWithRetry(
  store: StreamStore,
  stream: string,
  { timing, signal, onTrouble }: ReadRetries,
): Promise<ReadResult> {
  for (let tries = 0; !signal.aborted; tries += 1) {
    try {
      const view = await readStream(store, stream, signal)
      // Parsed here, since the history may turn out to be broken.
      view?.transactions()
      return view === undefined ? { kind: 'nothing' } : { kind: 'read', view }
    } catch (error) {
      if (error instanceof StreamFault) return { kind: 'nothing' }
      if (tries === 0 && !signal.aborted) onTrouble(`${stream} cannot be read for hooks now`, error)
      await timing.pause(Math.min(FIRST_PAUSE_MS * 2 ** tries, LONGEST_PAUSE_MS), signal)
    }
  }
  return { kind: 'stopped' }
}

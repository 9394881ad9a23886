import { readStream, type StreamView } from '../../ops/read-stream.ts'
import type { StreamStore } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'
import type { Timing } from '../../util/clock.ts'
import { ownText } from '../../util/strings.ts'
import type { Expiry } from '../decision.ts'
import type { Hold } from './pending.ts'

/** A stream whose document has to be read, and why. */
export interface PendingRead {
  readonly stream: string
  /** What it did up to this version is known; `undefined`: nothing of it. */
  readonly before: number | undefined
  readonly notices: readonly Expiry[]
  /** To be released when all that came of it is delivered or on its way. */
  readonly hold: Hold
}

/** Streams at most that wait to be read, some 30 MB of names, and those that are read at a time. */
const WAITING = 100_000
const AT_ONCE = 8

/**
 * Streams to be read for hooks. Nobody waits here: a stream is a name until its turn, however slow deliveries are. One that
 * moves again meanwhile is read once.
 */
export class Backlog {
  readonly #waiting = new Map<string, PendingRead>()
  readonly #limit: number
  readonly #read: (reading: PendingRead) => Promise<void>
  /** Kept: one begun anew would pass over all that were taken out before. */
  #order = this.#waiting.values()
  #reading = 0
  #isClosed = false

  constructor(read: (reading: PendingRead) => Promise<void>, limit = WAITING) {
    this.#read = read
    this.#limit = limit
  }

  /** How many wait. */
  get size(): number {
    return this.#waiting.size
  }

  /** False if there is no room, or it is closed: then the hold is still the caller's. */
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
    // the earlier one holds up all that came later
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
    // what is at its end stays there
    this.#order = this.#waiting.values()
    return this.#order.next().value
  }
}

function lower(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : Math.min(a, b)
}

export type PatientlyRead =
  | { readonly kind: 'read'; readonly view: StreamView }
  /** It is gone, or cannot be read as an event stream: there is nothing to tell. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'stopped' }

export interface ReadRetries {
  readonly timing: Timing
  readonly signal: AbortSignal
  /** Told once of a stream that is tried again. */
  readonly onTrouble: (message: string, error: unknown) => void
}

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

/** Reads a stream with its history. A store that does not answer is asked until it does: what happened is not to be lost. */
export async function readWithRetry(
  store: StreamStore,
  stream: string,
  { timing, signal, onTrouble }: ReadRetries,
): Promise<PatientlyRead> {
  for (let tries = 0; !signal.aborted; tries += 1) {
    try {
      const view = await readStream(store, stream, signal)
      // the history is read here, where it may turn out to be broken
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

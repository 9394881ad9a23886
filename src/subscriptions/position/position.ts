import { compareNames } from '../../store/names.ts'
import { CLOCKS_DIFFER_MS } from '../../util/clock.ts'
import { ownText } from '../../util/strings.ts'
import type { HaltedStream } from '../types.ts'
import { DeliveredStreams } from './delivered.ts'
import type { PositionDocument, ShardStatus, SweptPart, UnfinishedStream } from './document.ts'
import { type KnownVersion, MARGIN_MS, type NewTransactions, newTransactions, type ReadState } from './transactions.ts'

/** A stream that a sweep found, as the listing shows it. */
export interface FoundStream {
  readonly name: string
  readonly modifiedMs: number
  /** From a valid summary; absent if only the document can tell. */
  readonly state?: { readonly born: string; readonly version: number } | undefined
  /** Its version at the sweep before, if all shards of this process were held then. */
  readonly before?: KnownVersion | undefined
}

/** A stream whose transactions are to be delivered by this process. */
export interface StreamInHand {
  readonly name: string
  /** The sweep that found it. */
  sweep: number
  /** The name before it in that sweep. */
  previous: string
  before: KnownVersion | undefined
  /** Handled up to here; absent until the document was read. */
  known: KnownVersion | undefined
  /** It moved while it was being read or delivered: it must be read again. */
  isStale: boolean
  /** Its version is known, or a transaction was handled: it must be remembered. */
  isKnown: boolean
  /** About the time of its oldest transaction that is not handled, epoch ms. */
  readonly sinceMs: number
}

/** Why and until when a stream does not go on. */
export type Halt = Omit<HaltedStream, 'stream' | 'born' | 'version' | 'unreadSinceMs'>

interface Sweep {
  readonly number: number
  readonly startedMs: number
  /** The last name that the listing has passed. */
  passed: string
}

/** More parts are not kept: the next part then waits until it passes the first. */
const MOST_PARTS = 8

/**
 * Where a subscription stands in the streams of one shard. Decides which streams must be read, which transactions are
 * new, and what has to be written so that another process can continue. Pure: times are arguments, by the store's clock.
 */
export class ShardPosition {
  #fromMs: number
  #watermarkMs: number
  #swept: readonly SweptPart[]
  readonly #recent: DeliveredStreams
  readonly #halted = new Map<string, HaltedStream>()
  readonly #inHand = new Map<string, StreamInHand>()
  #applied: number
  #sweeps = 0
  #sweep: Sweep | undefined
  /** Whole sweeps at whose starts the watermark is not yet: the first and the last of them. */
  #ended: readonly Omit<Sweep, 'passed'>[] = []
  /** Streams that were found and not taken: the watermark waits for another sweep from here on. */
  #hasMissed = false

  /**
   * @param nowMs the time of reading the document
   * @returns its streams that are to be examined at once are in `inHand`
   */
  constructor(document: PositionDocument, nowMs: number) {
    const { fromMs, watermarkMs, forgottenMs, swept, recent, streams, applied } = document
    this.#fromMs = fromMs
    this.#watermarkMs = watermarkMs
    this.#swept = swept
    this.#applied = applied
    this.#recent = new DeliveredStreams(recent, forgottenMs, nowMs)
    for (const { state, ...stream } of streams) {
      if (state === 'running') this.#continue(stream)
      else this.#halted.set(stream.stream, { ...stream, state })
    }
  }

  get fromMs(): number {
    return this.#fromMs
  }

  get watermarkMs(): number {
    return this.#watermarkMs
  }

  get applied(): number {
    return this.#applied
  }

  get halted(): ReadonlyMap<string, HaltedStream> {
    return this.#halted
  }

  get inHand(): ReadonlyMap<string, StreamInHand> {
    return this.#inHand
  }

  /** Streams were found and not taken. */
  get hasMissed(): boolean {
    return this.#hasMissed
  }

  /** A sweep over all streams begins. One that did not end counts for nothing. */
  beginSweep(startedMs: number): void {
    this.#sweeps += 1
    // A clock that was set back would let new writes look older than the watermark.
    if (startedMs < this.#watermarkMs) {
      this.#watermarkMs = startedMs
      this.#recent.setBack(startedMs)
    }
    this.#swept = this.#swept.filter(part => part.startedMs <= startedMs)
    this.#sweep = { number: this.#sweeps, startedMs, passed: '' }
  }

  /** The sweep has passed all names up to this one. */
  passed(name: string): void {
    if (this.#sweep !== undefined) this.#sweep.passed = name
  }

  /** The sweep was whole: what it did not find has not moved. */
  endSweep(): void {
    if (this.#sweep === undefined) return
    const { number, startedMs } = this.#sweep
    this.#sweep = undefined
    if (!this.#hasMissed) this.#ended = [...this.#ended.slice(0, 1), { number, startedMs }]
    this.#advance()
  }

  /**
   * A stream that moved, or that the first sweep found.
   *
   * @returns true if it was not in hand and is now, to be read
   */
  found(stream: FoundStream): boolean {
    const { name } = stream
    const inHand = this.#inHand.get(name)
    if (inHand !== undefined) {
      inHand.isStale = true
      return false
    }
    const halted = this.#halted.get(name)
    if (halted?.state === 'parked' && !isOtherLife(halted, stream)) return false
    if (halted?.state === 'waiting') return false
    if (halted === undefined && this.#isQuiet(stream)) return false
    this.#take({ name, before: stream.before, known: undefined, sinceMs: stream.modifiedMs })
    return true
  }

  /** Examines a stream that waits, or that an operator wants to go on with. */
  resume(name: string): StreamInHand {
    const halted = this.#halted.get(name)
    const known = halted && this.#versionOf(halted)
    const sinceMs = halted?.sinceMs ?? this.#watermarkMs
    return this.#inHand.get(name) ?? this.#take({ name, before: undefined, known, sinceMs })
  }

  /**
   * A stream was found but cannot be taken now: the watermark stays before it until a whole sweep finds it again.
   *
   * @param keepsUnread whether those in hand stay there; those of a sweep that waits for room would hold it up
   */
  miss(keepsUnread: boolean): void {
    this.#hasMissed = true
    this.#ended = []
    if (keepsUnread) return
    for (const { name, known } of this.#inHand.values()) if (known === undefined) this.#inHand.delete(name)
  }

  /** There is room again: a sweep over all streams, moved or not, begins after this. */
  findMissed(): void {
    this.#hasMissed = false
    this.#sweep = undefined
  }

  /** Whether the stream is still that of this process: a request may have ended what was begun. */
  isInHand(stream: StreamInHand): boolean {
    return this.#inHand.get(stream.name) === stream
  }

  /** What of the document that was read is new. From here on the stream does not hold back the watermark. */
  read(stream: StreamInHand, state: ReadState): NewTransactions {
    const { name } = stream
    const known = this.#knownOf(stream, state.born)
    const watermarkMs = this.#halted.get(name)?.unreadSinceMs ?? this.#handledUntilMs(name)
    const forgottenMs = Math.min(this.#recent.forgottenMs, watermarkMs - MARGIN_MS)
    const times = { watermarkMs, forgottenMs, fromMs: this.#fromMs }
    const found = newTransactions(state, known, times)
    stream.known = { born: ownText(state.born), version: found.version, seenMs: state.modifiedMs }
    const halted = this.#halted.get(name)
    if (halted !== undefined && halted.born !== state.born) this.#halted.delete(name)
    this.#advance()
    return found
  }

  /** The transactions of the stream up to this version are handled. */
  handled(stream: StreamInHand, version: number): void {
    stream.isKnown = true
    if (stream.known !== undefined) stream.known = { ...stream.known, version }
    this.#halted.delete(stream.name)
  }

  /** All transactions that were read are handled. */
  finish(stream: StreamInHand): void {
    const { name, known, isKnown } = stream
    this.#inHand.delete(name)
    this.#halted.delete(name)
    if (known !== undefined) {
      const wasRecent = this.#recent.delete(name, known.born)
      // Of a stream without a new transaction its times tell the same again.
      if ((isKnown || wasRecent) && known.seenMs > this.#forgottenUntilMs(name)) {
        this.#recent.set(known.born, { name, version: known.version, writtenMs: known.seenMs })
      }
    }
    this.#advance()
  }

  /** The next transaction of the stream is put off, or waits for an operator. */
  halt(stream: StreamInHand, halted: Halt): void {
    const { name, known = stream.before } = stream
    this.#inHand.delete(name)
    const unread = {
      born: '',
      version: 0,
      unreadSinceMs: this.#halted.get(name)?.unreadSinceMs ?? this.#handledUntilMs(name),
    }
    const { born, version, ...since } = known === undefined ? unread : { born: known.born, version: known.version }
    this.#halted.set(name, { ...halted, stream: name, born, version, ...since })
    this.#advance()
  }

  /** The stream was removed: another one of its name begins at its first transaction. */
  forget(name: string): void {
    this.#inHand.delete(name)
    this.#halted.delete(name)
    this.#advance()
  }

  /** Everything after `fromMs` is handed over again. */
  reset(fromMs: number): void {
    this.#fromMs = fromMs
    this.#watermarkMs = fromMs
    this.#swept = []
    this.#recent.clear()
    this.#halted.clear()
    this.#inHand.clear()
    this.#sweep = undefined
    this.#ended = []
    this.#hasMissed = false
  }

  /** An operator goes on with a halted stream: at once, or after a version. False if it is not halted. */
  release(name: string, afterVersion: number | undefined): boolean {
    const halted = this.#halted.get(name)
    if (halted === undefined) return false
    const version = Math.max(halted.version, afterVersion ?? 0)
    const attempts = version === halted.version ? halted.attempts : 0
    this.#halted.set(name, { ...halted, version, attempts, state: 'waiting', tries: 0, nextMs: 0 })
    // What runs now does not count: it goes on from the new version afterwards.
    this.#inHand.delete(name)
    return true
  }

  /** All parked streams are tried at once. */
  releaseParked(): void {
    for (const [name, { state }] of [...this.#halted]) if (state === 'parked') this.release(name, undefined)
  }

  requestApplied(number: number): void {
    this.#applied = Math.max(this.#applied, number)
  }

  /** What has to be written so that no transaction is lost, and few are repeated. */
  document(status: ShardStatus): PositionDocument {
    this.#advance()
    const swept = this.#sweptNow()
    return {
      fromMs: this.#fromMs,
      watermarkMs: this.#watermarkMs,
      forgottenMs: this.#recent.forgottenMs,
      swept,
      recent: this.#recent.versions(),
      streams: [...this.#halted.values(), ...this.#running()],
      applied: this.#applied,
      status,
    }
  }

  #take({ name, ...fields }: Pick<StreamInHand, 'name' | 'before' | 'known' | 'sinceMs'>): StreamInHand {
    const previous = this.#sweep?.passed ?? ''
    const stream = {
      name,
      sweep: this.#sweeps,
      previous,
      isStale: false,
      isKnown: fields.known !== undefined || fields.before !== undefined,
      ...fields,
    }
    this.#inHand.set(name, stream)
    return stream
  }

  /** A stream that was being delivered by a process that ended. */
  #continue(open: Omit<UnfinishedStream, 'state'>): void {
    const { stream: name } = open
    this.#take({ name, before: undefined, known: this.#versionOf(open), sinceMs: this.#watermarkMs })
  }

  /** Nothing new, as the listing alone shows. */
  #isQuiet({ name, modifiedMs, state, before }: FoundStream): boolean {
    if (state !== undefined) {
      const delivered = this.#recent.get(name, state.born)
      if (delivered !== undefined && delivered.version >= state.version) return delivered.version === state.version
    }
    if (before !== undefined) return state?.born === before.born && state.version === before.version
    return modifiedMs <= Math.max(this.#forgottenUntilMs(name), this.#fromMs - CLOCKS_DIFFER_MS)
  }

  #knownOf({ name, known, before }: StreamInHand, born: string): KnownVersion | undefined {
    const halted = this.#halted.get(name)
    if (known !== undefined) return known
    if (halted !== undefined) return this.#versionOf(halted)
    const delivered = this.#recent.get(name, born)
    if (delivered !== undefined) return { born, version: delivered.version, seenMs: delivered.writtenMs }
    return before
  }

  #versionOf({ born, version, unreadSinceMs }: Omit<UnfinishedStream, 'state'>): KnownVersion | undefined {
    return unreadSinceMs === undefined ? { born, version, seenMs: this.#watermarkMs } : undefined
  }

  /** Everything that was visible at this time is handled, for the streams of this name. */
  #handledUntilMs(name: string): number {
    if (name === '') return this.#watermarkMs
    return this.#swept.find(({ after }) => compareNames(name, after) <= 0)?.startedMs ?? this.#watermarkMs
  }

  /** A stream of this name that was written up to then is handled, and not remembered. */
  #forgottenUntilMs(name: string): number {
    return this.#recent.forgottenUntilMs(this.#handledUntilMs(name))
  }

  /** Moves the watermark to the start of a whole sweep once nothing that it found is unread. */
  #advance(): void {
    if (this.#ended.length === 0) return
    // They are in order of their sweeps.
    const unread = this.#inHand.values().find(({ known }) => known === undefined)
    const reached = this.#ended.findLast(({ number }) => unread === undefined || number < unread.sweep)
    if (reached === undefined) return
    this.#ended = this.#ended.filter(({ number }) => number > reached.number)
    this.#watermarkMs = Math.max(this.#watermarkMs, reached.startedMs)
    this.#swept = this.#swept.filter(({ startedMs }) => startedMs > reached.startedMs)
    this.#recent.forget(this.#watermarkMs, name => this.#handledUntilMs(name))
  }

  /** The part of the sweep in progress that is handled, before the parts of earlier sweeps. */
  #sweptNow(): readonly SweptPart[] {
    if (this.#sweep === undefined || this.#hasMissed) return this.#swept
    let after = this.#sweep.passed
    for (const { name, known, previous } of this.#inHand.values()) {
      if (known === undefined && compareNames(name, after) <= 0) after = previous
    }
    if (after === '') return this.#swept
    const { startedMs } = this.#sweep
    const rest = this.#swept.filter(part => compareNames(part.after, after) > 0)
    const [first] = this.#swept
    if (rest.length >= MOST_PARTS && first !== undefined) return this.#swept
    this.#swept = [{ after, startedMs }, ...rest]
    return this.#swept
  }

  *#running(): Generator<UnfinishedStream> {
    for (const { name, known } of this.#inHand.values()) {
      if (known === undefined || this.#halted.has(name)) continue
      const { born, version } = known
      yield { stream: name, born, version, state: 'running', tries: 0, attempts: 0, nextMs: 0, why: '', sinceMs: 0 }
    }
  }
}

function isOtherLife({ born }: HaltedStream, { state }: FoundStream): boolean {
  return state !== undefined && state.born !== born
}

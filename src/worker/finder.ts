import { viewOf } from '../ops/read-stream.ts'
import { documentCache } from '../ops/transact/commit.ts'
import { UnreadableBlob } from '../store/errors.ts'
import type { StreamSnapshot, StreamStore } from '../store/store.ts'
import type { StreamDocument } from '../stream/document.ts'
import { StreamFault } from '../stream/errors.ts'
import { EventStream } from '../stream/event-stream.ts'
import { settledDocument } from '../stream/operations/transaction.ts'
import { timeReaderFor } from '../stream/time/deadlines.ts'
import { BoundedMap } from '../util/bounded-map.ts'
import type { Timing } from '../util/clock.ts'
import { defined } from '../util/defined.ts'
import { type Candidate, CandidateScanner, type ClaimableEvent, type ClaimableEvents, EventMatcher } from './scanner.ts'
import type { LoopOptions, WorkTarget } from './types.ts'

export type FoundEvent =
  | ({ readonly kind: 'found'; readonly expiredClaim?: ClaimableEvent['expiredClaim'] } & WorkTarget)
  /** No event to claim now. `againMs`: time of the next event that becomes claimable without a write, epoch ms. */
  | {
      readonly kind: 'nothing'
      readonly againMs: number
      /** Whether a claimable event is only excluded for a while. */
      readonly isWaiting: boolean
    }

export interface FinderListener {
  /** The store answered a request. */
  answered(): void
  /** A document cannot be read; reported once per state of the stream. */
  unreadable(stream: string, error: unknown): void
}

/** The claimable events of a stream, and its state. */
interface InspectedStream extends ClaimableEvents {
  readonly candidate: Candidate
}

/** Time after which an event that another loop of this process is claiming is checked again, ms. */
const BUSY_MS = 1_000

/** Exclusion of a stream whose blob the service does not let anyone read, ms. */
const UNREADABLE_MS = 5 * 60_000

/**
 * Finds events to claim, one by one. The streams of a listing take turns, so that a stream with many events does not delay
 * the others. The event within a stream is chosen at random, so that workers rarely race for the same one.
 */
export class Finder {
  readonly #store: StreamStore
  readonly #timing: Timing
  readonly #matcher: EventMatcher
  readonly #scanner: CandidateScanner
  readonly #excluded: Exclusions
  readonly #listener: FinderListener
  /** Streams that may have claimable events, in the order of their turns. */
  readonly #turns = new Map<string, Candidate>()
  /** Whether a stream was ruled out since the last listing, so that the next listing yields others. */
  #hasRuledOut = false

  constructor(store: StreamStore, options: LoopOptions, timing: Timing, listener: FinderListener) {
    this.#store = store
    this.#timing = timing
    this.#matcher = new EventMatcher(options)
    this.#scanner = new CandidateScanner(store, this.#matcher, options, timing)
    this.#excluded = new Exclusions(store)
    this.#listener = listener
  }

  /** @throws the store's faults */
  async next(signal: AbortSignal): Promise<FoundEvent> {
    const nowMs = this.#store.nowMs()
    for (let isListed = false; ; isListed = true) {
      for (const candidate of this.#turns.values()) {
        const found = await this.#takeTurn(candidate, signal)
        if (found !== undefined) return found
      }
      if (isListed && !(this.#scanner.isCut && this.#hasRuledOut)) {
        return { kind: 'nothing', againMs: this.#scanner.againMs, isWaiting: nowMs < this.#scanner.waitsUntilMs }
      }
      this.#hasRuledOut = false
      for (const candidate of await this.#scanner.candidates(signal)) this.#turns.set(candidate.name, candidate)
      this.#listener.answered()
    }
  }

  /** Number of streams in the last listing that may have work but have an infinite lease. */
  get locked(): number {
    return this.#scanner.locked
  }

  /** This process wrote the stream: its next events are often for this worker too. Its turn comes last. */
  wrote(stream: string): void {
    if (this.#turns.has(stream)) return
    const written = documentCache(this.#store).latest(stream)
    if (written !== undefined) this.#turns.set(stream, { name: stream, born: written.born, version: written.version })
  }

  /** The known state of the stream is outdated: it is read before anything else in it is claimed. */
  invalidate(stream: string): void {
    this.#turns.delete(stream)
    this.#turns.set(stream, { name: stream })
  }

  /** An event of the stream to claim in this document, by the rules of `next`. It is not marked as begun. */
  choose(stream: string, document: StreamDocument): Extract<FoundEvent, { kind: 'found' }> | undefined {
    const nowMs = this.#store.nowMs()
    if (this.#excluded.restsUntil({ stream }) > nowMs) return undefined
    const { claimable } = this.#claimableIn(document)
    const choice = claimable.length === 0 ? undefined : this.#choose(stream, claimable, nowMs)
    return typeof choice === 'object' ? { kind: 'found', stream, ...choice } : undefined
  }

  begin(target: WorkTarget): void {
    this.#excluded.begin(target)
  }

  end(target: WorkTarget): void {
    this.#excluded.end(target)
  }

  /** Excludes an event, or a whole stream, for `ms`. */
  rest(target: { readonly stream: string; readonly event?: string }, ms: number): void {
    const untilMs = this.#store.nowMs() + ms
    this.#excluded.rest(target, untilMs)
    if (target.event === undefined) this.#scanner.waitFor(untilMs)
    else this.#scanner.scanBy(untilMs)
  }

  async #takeTurn(candidate: Candidate, signal: AbortSignal): Promise<FoundEvent | undefined> {
    const stream = candidate.name
    this.#turns.delete(stream)
    const nowMs = this.#store.nowMs()
    const restsMs = this.#excluded.restsUntil({ stream })
    if (restsMs > nowMs) return this.#later(candidate, restsMs)
    const seen = this.#known(candidate) ?? (await this.#read(candidate, signal))
    if (seen === undefined) return undefined
    const { claimable, againMs } = seen
    this.#scanner.scanBy(againMs)
    if (claimable.length === 0) return this.#skip(seen.candidate, againMs)
    const choice = this.#choose(stream, claimable, nowMs)
    if (typeof choice === 'number') return this.#later(seen.candidate, choice)
    if (claimable.length > 1) this.#turns.set(stream, seen.candidate)
    return { kind: 'found', stream, ...choice }
  }

  /** A random one of the events that are not excluded; or the time when the first exclusion ends, epoch ms. */
  #choose(stream: string, claimable: readonly ClaimableEvent[], nowMs: number): ClaimableEvent | number {
    const free = claimable.filter(({ event }) => !this.#excluded.isBusy({ stream, event }))
    if (free.length === 0) return nowMs + BUSY_MS
    const restsUntil = ({ event }: ClaimableEvent) => this.#excluded.restsUntil({ stream, event })
    const rested = free.filter(event => restsUntil(event) <= nowMs)
    return rested[Math.floor(this.#timing.random() * rested.length)] ?? Math.min(...free.map(restsUntil))
  }

  /** The stream has claimable events, but is excluded until then; `Infinity` is not waited for. */
  #later(candidate: Candidate, untilMs: number): undefined {
    if (untilMs === Number.POSITIVE_INFINITY) this.#skip(candidate, untilMs)
    else this.#scanner.waitFor(untilMs)
  }

  /** Skips the stream until then, epoch ms, unless it changes. */
  #skip({ name, etag }: Candidate, untilMs: number): undefined {
    if (etag === undefined) return
    this.#scanner.skipUntil(name, etag, untilMs)
    this.#hasRuledOut = true
  }

  /** The state that this process wrote itself, unless the listing has a later state or another incarnation. */
  #known(candidate: Candidate): InspectedStream | undefined {
    const { name, etag, born, version } = candidate
    const cache = documentCache(this.#store)
    const same = etag === undefined ? undefined : cache.find(name, etag)
    if (same !== undefined) return { candidate, ...this.#claimableIn(same) }
    const latest = version === undefined ? undefined : cache.latest(name)
    if (latest === undefined || latest.born !== born || latest.version < (version ?? 0)) return undefined
    return { candidate: { name, born: latest.born, version: latest.version }, ...this.#claimableIn(latest) }
  }

  /** If the store fails, the stream keeps its turn; an unreadable document is skipped until it changes. */
  async #read({ name, etag }: Candidate, signal: AbortSignal): Promise<InspectedStream | undefined> {
    let seenEtag = etag
    try {
      const stored = await this.#store.read(name, signal)
      this.#listener.answered()
      seenEtag = stored?.etag ?? etag
      return stored && this.#parse(stored)
    } catch (error) {
      if (!(error instanceof StreamFault)) {
        this.#turns.set(name, { name })
        throw error
      }
      this.#listener.unreadable(name, error)
      const candidate = { name, ...defined({ etag: seenEtag }) }
      // The blob may become readable without a new ETag, for example after leaving the archive tier.
      const againMs = error instanceof UnreadableBlob ? this.#store.nowMs() + UNREADABLE_MS : Number.POSITIVE_INFINITY
      return this.#skip(candidate, againMs)
    }
  }

  /** A claim settles the document first, so the ready events are those of the settled document. */
  #parse(stored: StreamSnapshot): InspectedStream {
    const { name, etag, versionFloor, modifiedMs: lastModifiedMs } = stored
    const nowMs = this.#store.nowMs()
    const { document: written } = viewOf(stored, nowMs)
    const { born, version } = written
    const { document } = settledDocument(written, { nowMs, versionFloor, lastModifiedMs, born })
    return { candidate: { name, etag, born, version }, ...this.#claimableIn(document, written) }
  }

  #claimableIn(document: StreamDocument, written?: StreamDocument): ClaimableEvents {
    const nowMs = this.#store.nowMs()
    const { read } = timeReaderFor(document, { nowMs })
    return this.#matcher.claimableIn(new EventStream(document.events), nowMs, read, written)
  }
}

interface Target {
  readonly stream: string
  readonly event?: string
}

/** Maximum number of exclusions for a time; beyond it the oldest end early. */
const MOST_RESTING = 10_000

/** Events and streams that a loop does not claim now: those in progress in any loop of this process, and those excluded for a time. */
class Exclusions {
  readonly #busy: Set<string>
  readonly #resting = new BoundedMap<string, number>(MOST_RESTING)

  constructor(store: StreamStore) {
    this.#busy = BUSY.get(store) ?? new Set()
    BUSY.set(store, this.#busy)
  }

  begin(target: Target): void {
    this.#busy.add(keyOf(target))
  }

  end(target: Target): void {
    this.#busy.delete(keyOf(target))
  }

  isBusy(target: Target): boolean {
    return this.#busy.has(keyOf(target))
  }

  /** @param untilMs epoch ms by the store's clock */
  rest(target: Target, untilMs: number): void {
    this.#resting.set(keyOf(target), untilMs)
  }

  /** End of the exclusion, epoch ms; `-Infinity` without one. */
  restsUntil(target: Target): number {
    return this.#resting.get(keyOf(target)) ?? Number.NEGATIVE_INFINITY
  }
}

/** The separator is unambiguous: stream names have no line feeds. */
function keyOf({ stream, event }: Target): string {
  return event === undefined ? stream : `${stream}\n${event}`
}

const BUSY = new WeakMap<StreamStore, Set<string>>()

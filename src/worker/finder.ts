import { viewOf } from '../ops/read-stream.ts'
import { documentCache } from '../ops/transact/commit.ts'
import { UnreadableBlob } from '../store/errors.ts'
import type { StreamSnapshot, StreamStore } from '../store/store.ts'
import type { StreamDocument } from '../stream/document.ts'
import { StreamFault } from '../stream/errors.ts'
import { EventStream } from '../stream/event-stream.ts'
import { settledDocument } from '../stream/operations/transaction.ts'
import { BoundedMap } from '../util/bounded-map.ts'
import type { Timing } from '../util/clock.ts'
import { type Candidate, CandidateScanner, type ClaimableEvent, type ClaimableEvents, EventMatcher } from './scanner.ts'
import type { LoopOptions, WorkTarget } from './types.ts'

export type FoundEvent =
  | ({ readonly kind: 'found'; readonly silent?: ClaimableEvent['silent'] } & WorkTarget)
  /** Nothing to claim now. `againMs`: when there may be although nothing is written, epoch ms. */
  | {
      readonly kind: 'nothing'
      readonly againMs: number
      /** Something was seen that is only left alone for a moment. */
      readonly isWaiting: boolean
    }

export interface FinderListener {
  /** The store was asked, and answered. */
  answered(): void
  /** A document cannot be read; told once in each of its states. */
  unreadable(stream: string, error: unknown): void
}

/** What can be claimed in a stream, and what is known of it from now on. */
interface Seen extends ClaimableEvents {
  readonly lead: Candidate
}

/** An event that another loop of this process is about to claim may be free again after so long, ms. */
const BUSY_MS = 1_000

/** How long a stream whose blob the service does not hand out is left alone, ms. */
const UNREADABLE_MS = 5 * 60_000

/**
 * Finds events to claim, one after the other. The streams of a listing take turns, so that one with many events keeps no
 * other waiting; which event of a stream it is, chance decides, so that workers that see the same rarely race.
 */
export class Finder {
  readonly #store: StreamStore
  readonly #timing: Timing
  readonly #wanted: EventMatcher
  readonly #survey: CandidateScanner
  readonly #aside: Exclusions
  readonly #listener: FinderListener
  /** Streams that are worth a look, whose turn it is first. */
  readonly #turns = new Map<string, Candidate>()
  /** Since the last listing a stream was found not to be worth a look, so that the next one yields others. */
  #isWiser = false

  constructor(store: StreamStore, options: LoopOptions, timing: Timing, listener: FinderListener) {
    this.#store = store
    this.#timing = timing
    this.#wanted = new EventMatcher(options)
    this.#survey = new CandidateScanner(store, this.#wanted, options, timing)
    this.#aside = new Exclusions(store)
    this.#listener = listener
  }

  /** @throws the store's faults */
  async next(signal: AbortSignal): Promise<FoundEvent> {
    const nowMs = this.#store.nowMs()
    for (let isListed = false; ; isListed = true) {
      for (const lead of this.#turns.values()) {
        const found = await this.#takeTurn(lead, signal)
        if (found !== undefined) return found
      }
      if (isListed && !(this.#survey.isCut && this.#isWiser)) {
        return { kind: 'nothing', againMs: this.#survey.againMs, isWaiting: nowMs < this.#survey.waitsUntilMs }
      }
      this.#isWiser = false
      for (const lead of await this.#survey.leads(signal)) this.#turns.set(lead.name, lead)
      this.#listener.answered()
    }
  }

  /** Streams that may have work and are leased until somebody says otherwise, as they were listed last. */
  get locked(): number {
    return this.#survey.locked
  }

  /** The stream was written by this process: what follows is often for us too. Its turn comes last. */
  wrote(stream: string): void {
    if (this.#turns.has(stream)) return
    const written = documentCache(this.#store).latest(stream)
    if (written !== undefined) this.#turns.set(stream, { name: stream, born: written.born, version: written.version })
  }

  /** The stream is not as it was thought to be: it is read before anything more of it is claimed. */
  mistook(stream: string): void {
    this.#turns.delete(stream)
    this.#turns.set(stream, { name: stream })
  }

  begin(target: WorkTarget): void {
    this.#aside.begin(target)
  }

  end(target: WorkTarget): void {
    this.#aside.end(target)
  }

  /** Leaves an event, or all of a stream, alone for so long, ms. */
  rest(target: { readonly stream: string; readonly event?: string }, ms: number): void {
    const untilMs = this.#store.nowMs() + ms
    this.#aside.rest(target, untilMs)
    if (target.event === undefined) this.#survey.waitFor(untilMs)
    else this.#survey.lookBy(untilMs)
  }

  async #takeTurn(lead: Candidate, signal: AbortSignal): Promise<FoundEvent | undefined> {
    const stream = lead.name
    this.#turns.delete(stream)
    const nowMs = this.#store.nowMs()
    const restsMs = this.#aside.restsUntil({ stream })
    if (restsMs > nowMs) return this.#later(lead, restsMs)
    const seen = this.#known(lead) ?? (await this.#read(lead, signal))
    if (seen === undefined) return undefined
    const { openings, againMs } = seen
    this.#survey.lookBy(againMs)
    if (openings.length === 0) return this.#leave(seen.lead, againMs)
    const choice = this.#choose(stream, openings, nowMs)
    if (typeof choice === 'number') return this.#later(seen.lead, choice)
    if (openings.length > 1) this.#turns.set(stream, seen.lead)
    return { kind: 'found', stream, ...choice }
  }

  /** One of those that are not left alone, by chance; or when the first of them is again to be had, epoch ms. */
  #choose(stream: string, openings: readonly ClaimableEvent[], nowMs: number): ClaimableEvent | number {
    const free = openings.filter(({ event }) => !this.#aside.isBusy({ stream, event }))
    if (free.length === 0) return nowMs + BUSY_MS
    const restsUntil = ({ event }: ClaimableEvent) => this.#aside.restsUntil({ stream, event })
    const rested = free.filter(opening => restsUntil(opening) <= nowMs)
    return rested[Math.floor(this.#timing.random() * rested.length)] ?? Math.min(...free.map(restsUntil))
  }

  /** There is something to claim, but not before; `Infinity` is not waited for. */
  #later(lead: Candidate, untilMs: number): undefined {
    if (untilMs === Number.POSITIVE_INFINITY) this.#leave(lead, untilMs)
    else this.#survey.waitFor(untilMs)
  }

  /** Not worth a look before, epoch ms, as long as it stays as it is. */
  #leave({ name, etag }: Candidate, untilMs: number): undefined {
    if (etag === undefined) return
    this.#survey.leaveUntil(name, etag, untilMs)
    this.#isWiser = true
  }

  /** What this process wrote itself, unless the listing has seen a later state or another life. */
  #known(lead: Candidate): Seen | undefined {
    const { name, etag, born, version } = lead
    const cache = documentCache(this.#store)
    const same = etag === undefined ? undefined : cache.find(name, etag)
    if (same !== undefined) return { lead, ...this.#openingsIn(same) }
    const latest = version === undefined ? undefined : cache.latest(name)
    if (latest === undefined || latest.born !== born || latest.version < (version ?? 0)) return undefined
    return { lead: { name, born: latest.born, version: latest.version }, ...this.#openingsIn(latest) }
  }

  /** A stream that cannot be had now keeps its turn; one that cannot be read is left alone until it is another. */
  async #read({ name, etag }: Candidate, signal: AbortSignal): Promise<Seen | undefined> {
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
      const lead = { name, ...(seenEtag === undefined ? {} : { etag: seenEtag }) }
      // What the service keeps it from, an archive for example, ends without another ETag.
      const againMs = error instanceof UnreadableBlob ? this.#store.nowMs() + UNREADABLE_MS : Number.POSITIVE_INFINITY
      return this.#leave(lead, againMs)
    }
  }

  /** The claim settles the document before anything else, so what is ready is seen in it as it will be then. */
  #parse(stored: StreamSnapshot): Seen {
    const { name, etag, versionFloor, modifiedMs: lastModifiedMs } = stored
    const nowMs = this.#store.nowMs()
    const { document: written } = viewOf(stored, nowMs)
    const { born, version } = written
    const { document } = settledDocument(written, { nowMs, versionFloor, lastModifiedMs, born })
    return { lead: { name, etag, born, version }, ...this.#openingsIn(document) }
  }

  #openingsIn({ events }: StreamDocument): ClaimableEvents {
    return this.#wanted.openingsIn(new EventStream(events), this.#store.nowMs())
  }
}

interface Target {
  readonly stream: string
  readonly event?: string
}

/** So many are left alone at a time, at most: beyond that the oldest are tried again early. */
const MOST_RESTING = 10_000

/** What a loop leaves alone in a store: events that it or another of this process is at, and those it lets rest for a while. */
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

  /** Epoch ms; `-Infinity` if it does not rest. */
  restsUntil(target: Target): number {
    return this.#resting.get(keyOf(target)) ?? Number.NEGATIVE_INFINITY
  }
}

/** No name of a stream has a line feed. */
function keyOf({ stream, event }: Target): string {
  return event === undefined ? stream : `${stream}\n${event}`
}

const BUSY = new WeakMap<StreamStore, Set<string>>()

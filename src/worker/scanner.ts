import { type Glob, globOf } from '../ops/glob.ts'
import { isInPartition, type Partition } from '../ops/shards/partition.ts'
import { ChangedStreams, type RememberedStream } from '../ops/watch/changed-streams.ts'
import type { StreamRow, StreamStore } from '../store/store.ts'
import type { StreamDocument } from '../stream/document.ts'
import { attemptOf, isGated, type StreamEvent } from '../stream/event.ts'
import { EventStream, openEvents, openWork } from '../stream/event-stream.ts'
import type { Summary } from '../stream/summary.ts'
import { claimEndMs, claimRuns, openedMs, opensAtMs, type TimeReader } from '../stream/time/deadlines.ts'
import type { Timing } from '../util/clock.ts'
import { ownText } from '../util/strings.ts'
import type { LoopOptions } from './types.ts'

/** A stream that may have claimable events, from a listing. */
export interface Candidate {
  readonly name: string
  /** Absent if the current state of the stream is not known. */
  readonly etag?: string
  readonly born?: string
  readonly version?: number
}

/** Maximum number of candidates of each kind per listing; the next listing yields more. */
const MOST_CANDIDATES = 1_000

/** Maximum number of remembered streams without work: some 30 MB. */
const MOST_IDLE = 200_000

/** A stream without work before `againMs`, epoch ms, while its ETag stays the same. */
interface IdleStream extends RememberedStream {
  readonly againMs: number
}

/** Finds streams that may have work, from listings alone. It lists only if something was written or a claim expired. */
export class CandidateScanner {
  readonly #idle = new ChangedStreams<IdleStream>(MOST_IDLE)
  readonly #store: StreamStore
  readonly #matcher: EventMatcher
  readonly #timing: Timing
  readonly #glob: Glob | undefined
  readonly #partition: Partition | undefined
  #mark: string | undefined
  #waitsUntilMs = Number.NEGATIVE_INFINITY
  #isCut = false
  #locked = 0
  /** Time of the next listing even if nothing is written, epoch ms. */
  #againMs = Number.NEGATIVE_INFINITY

  constructor(
    store: StreamStore,
    wanted: EventMatcher,
    { match, partition }: Pick<LoopOptions, 'match' | 'partition'>,
    timing: Timing,
  ) {
    this.#store = store
    this.#matcher = wanted
    this.#timing = timing
    this.#glob = match === undefined ? undefined : globOf(match)
    this.#partition = partition
  }

  /** Time of the next listing even if nothing is written, epoch ms. */
  get againMs(): number {
    return this.#againMs
  }

  /** Whether the last listing had more candidates than it yielded. */
  get isCut(): boolean {
    return this.#isCut
  }

  /** Number of streams in the last listing that may have work but have an infinite lease. */
  get locked(): number {
    return this.#locked
  }

  /** End of the last exclusion of something claimable, epoch ms. */
  get waitsUntilMs(): number {
    return this.#waitsUntilMs
  }

  /** Records that something claimable is excluded until then. A listing resets it; its consumer records it again. */
  waitFor(ms: number): void {
    this.scanBy(ms)
    this.#waitsUntilMs = Math.max(this.#waitsUntilMs, ms)
  }

  /** Requests a listing by then, even if nothing is written. */
  scanBy(ms: number): void {
    this.#againMs = Math.min(this.#againMs, ms)
  }

  /** Skips the stream until then, epoch ms, while its ETag stays the same. */
  skipUntil(name: string, etag: string, againMs: number): void {
    this.#idle.forget(name)
    this.#idle.take({ name: ownText(name), etag: ownText(etag), againMs, listing: 0 })
  }

  /**
   * The candidates in random order; those without a summary come last.
   * @throws the store's faults
   */
  async candidates(signal: AbortSignal): Promise<readonly Candidate[]> {
    const mark = await this.#store.changeToken?.(signal)
    const nowMs = this.#store.nowMs()
    if (mark !== undefined && mark === this.#mark && nowMs < this.#againMs) return []
    this.#mark = undefined
    this.#againMs = Number.POSITIVE_INFINITY
    this.#waitsUntilMs = Number.NEGATIVE_INFINITY
    this.#locked = 0
    const ready = new Sample<Candidate>(MOST_CANDIDATES, this.#timing.random)
    const unknown = new Sample<Candidate>(MOST_CANDIDATES, this.#timing.random)
    this.#idle.begin()
    const mayHaveWork = ({ againMs }: IdleStream) => {
      if (againMs > nowMs) this.scanBy(againMs)
      return againMs <= nowMs
    }
    const skip = (name: string, etag: string) => !this.#isOurs(name) || this.#idle.skip(name, etag, mayHaveWork)
    const prefix = this.#glob?.prefix
    for await (const page of this.#store.list({ order: 'any', skip, signal, ...(prefix ? { prefix } : {}) })) {
      for (const listed of page) this.#consider(listed, nowMs, ready, unknown)
    }
    this.#idle.end()
    // Candidates beyond the limit are found by the next listing, so the token must not suppress it.
    this.#isCut = ready.isCut || unknown.isCut
    if (!this.#isCut) this.#mark = mark
    return [...ready.take(), ...unknown.take()]
  }

  #isOurs(name: string): boolean {
    if (this.#partition !== undefined && !isInPartition(name, this.#partition)) return false
    return this.#glob?.matches(name) !== false
  }

  #consider(
    { name, etag, lease, summary }: StreamRow,
    nowMs: number,
    ready: Sample<Candidate>,
    unknown: Sample<Candidate>,
  ): void {
    const fromMs = summary === undefined ? nowMs : this.#matcher.mayHaveWorkFromMs(summary)
    if (fromMs > nowMs) {
      this.skipUntil(name, etag, fromMs)
      this.scanBy(fromMs)
    } else if (lease.state === 'leased' && lease.duration === 'infinite') {
      // No event of it can be claimed, and waiting for the lease would delay other streams.
      this.#locked += 1
    } else if (summary === undefined) unknown.offer({ name, etag })
    else ready.offer({ name, etag, born: summary.born, version: summary.version })
  }
}

/** An event that can be claimed now. */
export interface ClaimableEvent {
  readonly event: string
  /** If a claim of it has expired: the name of the event, and the number of that attempt. */
  readonly expiredClaim?: { readonly name: string; readonly attempt: number }
}

export interface ClaimableEvents {
  readonly claimable: readonly ClaimableEvent[]
  /** Earliest time at which an event may become claimable without a write, epoch ms; `Infinity` without one. */
  readonly againMs: number
}

/** Decides which events a loop works on. */
export class EventMatcher {
  readonly #names: ReadonlySet<string>
  readonly #topic: string | undefined
  readonly #encodedNames: ReadonlySet<string>
  readonly #encodedTopic: string | undefined
  readonly #deferMs: number

  constructor({ names, topic, deferMs = 0 }: Pick<LoopOptions, 'names' | 'topic' | 'deferMs'>) {
    this.#deferMs = deferMs
    this.#names = new Set(names)
    this.#topic = topic
    this.#encodedNames = new Set(names.map(encoded))
    this.#encodedTopic = topic === undefined ? undefined : encoded(topic)
  }

  /** Time from which the stream may have work according to its summary, epoch ms; `Infinity` if only after a change. */
  mayHaveWorkFromMs(summary: Summary): number {
    if (summary.suspendedMs !== undefined) return Number.POSITIVE_INFINITY
    const isReady = summary.ready.some(item => item.startsWith('+') || this.#isListed(item))
    // The first of all ready events, whatever its name: a wanted one is not older.
    const readyMs = isReady ? (summary.readySinceMs ?? Number.NEGATIVE_INFINITY) : Number.POSITIVE_INFINITY
    const { claimEndMs = Number.POSITIVE_INFINITY } = summary
    if (this.#deferMs === 0 && isReady) return Number.NEGATIVE_INFINITY
    return Math.min(readyMs, claimEndMs, this.#opensFromMs(summary)) + this.#deferMs
  }

  /** When the first gate of a wanted event opens by itself, epoch ms. */
  #opensFromMs({ gated, wakeMs = Number.POSITIVE_INFINITY }: Summary): number {
    return gated.some(item => item.startsWith('+') || this.#isListed(item)) ? wakeMs : Number.POSITIVE_INFINITY
  }

  /**
   * @param read for the times of the document
   * @param written the document before it was settled
   */
  claimableIn(stream: EventStream, nowMs: number, read: TimeReader, written?: StreamDocument): ClaimableEvents {
    const before = this.#deferMs > 0 && written !== undefined ? new EventStream(written.events) : undefined
    const open = openEvents(stream)
    const claimable: ClaimableEvent[] = []
    let againMs = Number.POSITIVE_INFINITY
    /** @param sinceMs since when it can be claimed; always if it is not known */
    const take = (event: ClaimableEvent, sinceMs = Number.NEGATIVE_INFINITY) => {
      if (this.#deferMs === 0 || sinceMs + this.#deferMs <= nowMs) claimable.push(event)
      else againMs = Math.min(againMs, sinceMs + this.#deferMs)
    }
    for (const event of openWork(stream, open).ready)
      if (this.#isWanted(event))
        take({ event: event.id }, this.#deferMs > 0 ? readyMs(stream, event, before, read) : undefined)
    for (const event of open) {
      const isWanted = this.#isWanted(event)
      const opensMs = isGated(event) && !stream.held ? opensAtMs(stream, event, read) : undefined
      // The transaction that claims it opens the gate.
      if (opensMs !== undefined && isWanted && opensMs <= nowMs) take({ event: event.id }, opensMs)
      else if (opensMs !== undefined) againMs = Math.min(againMs, opensMs)
      if (!isClaimed(stream, event)) continue
      if (!claimRuns(event, nowMs)) {
        if (isWanted) {
          const expiredClaim = { name: event.name, attempt: attemptOf(event) }
          take({ event: event.id, expiredClaim }, claimEndMs(event))
        }
        continue
      }
      // An event that only its claim keeps open closes at the claim's end, and a join that waits for it becomes ready.
      if (isWanted || !stream.isLeaf(stream.positionOf(event.id))) {
        againMs = Math.min(againMs, claimEndMs(event) ?? againMs)
      }
    }
    return { claimable, againMs }
  }

  #isWanted({ name, topic }: StreamEvent): boolean {
    return this.#names.has(name) && (this.#topic === undefined || this.#topic === topic)
  }

  #isListed(item: string): boolean {
    const [name = '', topic] = item.split('|')
    return this.#encodedNames.has(name) && (this.#encodedTopic === undefined || this.#encodedTopic === topic)
  }
}

/** Whether the event has a claim that another worker can take over after its end. */
function isClaimed(stream: EventStream, event: StreamEvent): boolean {
  if (event.status === 'init' || event.lc.owner === undefined || isGated(event)) return false
  if (stream.held || stream.suspended) return false
  return !stream.openSuccessors(event) && stream.finalAncestor(stream.positionOf(event.id)) === undefined
}

/** The encoding of `summarize`. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/** A uniform random sample in random order, so that workers with the same listing do not start with the same stream. */
class Sample<Item> {
  readonly #items: Item[] = []
  readonly #most: number
  readonly #random: () => number
  #offered = 0

  constructor(most: number, random: () => number) {
    this.#most = most
    this.#random = random
  }

  offer(item: Item): void {
    this.#offered += 1
    if (this.#items.length < this.#most) this.#items.push(item)
    else {
      const at = Math.floor(this.#random() * this.#offered)
      if (at < this.#most) this.#items[at] = item
    }
  }

  /** Whether more items were offered than kept. */
  get isCut(): boolean {
    return this.#offered > this.#items.length
  }

  take(): readonly Item[] {
    for (let at = this.#items.length - 1; at > 0; at--) {
      const other = Math.floor(this.#random() * (at + 1))
      const [item, swapped] = [this.#items[at], this.#items[other]]
      if (item === undefined || swapped === undefined) break
      this.#items[at] = swapped
      this.#items[other] = item
    }
    return this.#items
  }
}

/** Since when an event is ready, epoch ms. The settling opens a gate at the time of the settling: it was open before. */
function readyMs(
  stream: EventStream,
  event: StreamEvent,
  before: EventStream | undefined,
  read: TimeReader,
): number | undefined {
  const gated = before?.at(before.positionOf(event.id))
  if (before !== undefined && gated !== undefined && isGated(gated)) return opensAtMs(before, gated, read)
  // A release changes its time, and nothing of a suspended stream was ready.
  const times = [openedMs(event, read), read(event.timestamp), read(stream.root?.lc.resumed ?? '')]
  return Math.max(...times.map(ms => ms ?? Number.NEGATIVE_INFINITY))
}

import { type Glob, globOf } from '../ops/glob.ts'
import { ChangedStreams, type RememberedStream } from '../ops/watch/changed-streams.ts'
import type { StreamRow, StreamStore } from '../store/store.ts'
import { attemptOf, isWaitingJoin, type StreamEvent } from '../stream/event.ts'
import { type EventStream, openEvents, openWork } from '../stream/event-stream.ts'
import type { Summary } from '../stream/summary.ts'
import { claimEndMs, claimRuns } from '../stream/time/deadlines.ts'
import type { Timing } from '../util/clock.ts'
import { ownText } from '../util/strings.ts'
import type { LoopOptions } from './types.ts'

/** A stream that is worth a look, as it was listed. */
export interface Candidate {
  readonly name: string
  /** Absent where it is not known in what state the stream is. */
  readonly etag?: string
  readonly born?: string
  readonly version?: number
}

/** A look at all streams yields at most so many of each kind; more come with the next one. */
const MOST_LEADS = 1_000

/** At most so many streams without work are remembered: some 30 MB. */
const MOST_IDLE = 200_000

/** A stream in which there is nothing to do before that time, epoch ms, as long as its ETag stays. */
interface IdleStream extends RememberedStream {
  readonly againMs: number
}

/** Finds streams that may have work, from listings alone; nothing is listed while nothing was written. */
export class CandidateScanner {
  readonly #idle = new ChangedStreams<IdleStream>(MOST_IDLE)
  readonly #store: StreamStore
  readonly #wanted: EventMatcher
  readonly #timing: Timing
  readonly #glob: Glob | undefined
  #mark: string | undefined
  #waitsUntilMs = Number.NEGATIVE_INFINITY
  #isCut = false
  #locked = 0
  /** When what was seen at the last look is worth another one although nothing was written, epoch ms. */
  #againMs = Number.NEGATIVE_INFINITY

  constructor(store: StreamStore, wanted: EventMatcher, { match }: Pick<LoopOptions, 'match'>, timing: Timing) {
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

  /** A stream that stays in this state is not worth a look before that time, epoch ms. */
  leaveUntil(name: string, etag: string, againMs: number): void {
    this.#idle.forget(name)
    this.#idle.take({ name: ownText(name), etag: ownText(etag), againMs, listing: 0 })
  }

  /**
   * The streams that are worth a look now, in an order of chance; those of which a listing knows too little come last.
   * @throws the store's faults
   */
  async leads(signal: AbortSignal): Promise<readonly Candidate[]> {
    const mark = await this.#store.changeToken?.(signal)
    const nowMs = this.#store.nowMs()
    if (mark !== undefined && mark === this.#mark && nowMs < this.#againMs) return []
    this.#mark = undefined
    this.#againMs = Number.POSITIVE_INFINITY
    this.#waitsUntilMs = Number.NEGATIVE_INFINITY
    this.#locked = 0
    const ready = new Sample<Candidate>(MOST_LEADS, this.#timing.random)
    const unknown = new Sample<Candidate>(MOST_LEADS, this.#timing.random)
    this.#idle.begin()
    const mayHaveWork = ({ againMs }: IdleStream) => {
      if (againMs > nowMs) this.lookBy(againMs)
      return againMs <= nowMs
    }
    const skip = (name: string, etag: string) =>
      this.#glob?.matches(name) === false || this.#idle.skip(name, etag, mayHaveWork)
    const prefix = this.#glob?.prefix
    for await (const page of this.#store.list({ order: 'any', skip, signal, ...(prefix ? { prefix } : {}) })) {
      for (const listed of page) this.#consider(listed, nowMs, ready, unknown)
    }
    this.#idle.end()
    // What found no room is found by listing again.
    this.#isCut = ready.isCut || unknown.isCut
    if (!this.#isCut) this.#mark = mark
    return [...ready.take(), ...unknown.take()]
  }

  #consider(
    { name, etag, lease, summary }: StreamRow,
    nowMs: number,
    ready: Sample<Candidate>,
    unknown: Sample<Candidate>,
  ): void {
    const fromMs = summary === undefined ? nowMs : this.#wanted.worthFrom(summary)
    if (fromMs > nowMs) {
      this.leaveUntil(name, etag, fromMs)
      this.lookBy(fromMs)
    } else if (lease.state === 'leased' && lease.duration === 'infinite') {
      // Nothing can be claimed, and waiting would keep other streams waiting.
      this.#locked += 1
    } else if (summary === undefined) unknown.offer({ name, etag })
    else ready.offer({ name, etag, born: summary.born, version: summary.version })
  }
}

/** An event that can be claimed now. */
export interface ClaimableEvent {
  readonly event: string
  /** Its claim ran out: who has gone silent on it, and how often it was tried until then. */
  readonly silent?: { readonly owner: string; readonly attempts: number }
}

export interface ClaimableEvents {
  readonly openings: readonly ClaimableEvent[]
  /** When the next claim may run out after which there may be something, epoch ms; else `Infinity`. */
  readonly againMs: number
}

/** Which events a loop works on. */
export class EventMatcher {
  readonly #names: ReadonlySet<string>
  readonly #topic: string | undefined
  readonly #encodedNames: ReadonlySet<string>
  readonly #encodedTopic: string | undefined

  constructor({ names, topic }: Pick<LoopOptions, 'names' | 'topic'>) {
    this.#names = new Set(names)
    this.#topic = topic
    this.#encodedNames = new Set(names.map(encoded))
    this.#encodedTopic = topic === undefined ? undefined : encoded(topic)
  }

  /** What a listing says of a stream: when its document is worth a look, epoch ms; `Infinity` for not while it stays so. */
  worthFrom(summary: Summary): number {
    const isReady = summary.ready.some(item => item.startsWith('+') || this.#isListed(item))
    return isReady ? Number.NEGATIVE_INFINITY : (summary.claimEndMs ?? Number.POSITIVE_INFINITY)
  }

  openingsIn(stream: EventStream, nowMs: number): ClaimableEvents {
    const open = openEvents(stream)
    const openings: ClaimableEvent[] = openWork(stream, open)
      .ready.filter(event => this.#isWanted(event))
      .map(event => ({ event: event.id }))
    let againMs = Number.POSITIVE_INFINITY
    for (const event of open) {
      if (!isClaimed(stream, event)) continue
      const isWanted = this.#isWanted(event)
      if (!claimRuns(event, nowMs)) {
        if (isWanted) {
          openings.push({ event: event.id, silent: { owner: event.lc.owner ?? '', attempts: attemptOf(event) } })
        }
        continue
      }
      // One that only its claim keeps open closes then, and a join that waits for it is ready.
      if (isWanted || !stream.isLeaf(stream.positionOf(event.id))) {
        againMs = Math.min(againMs, claimEndMs(event) ?? againMs)
      }
    }
    return { openings, againMs }
  }

  #isWanted({ name, topic }: StreamEvent): boolean {
    return this.#names.has(name) && (this.#topic === undefined || this.#topic === topic)
  }

  #isListed(item: string): boolean {
    const [name = '', topic] = item.split('|')
    return this.#encodedNames.has(name) && (this.#encodedTopic === undefined || this.#encodedTopic === topic)
  }
}

/** Whether there is a claim that another may take over once it has run out. */
function isClaimed(stream: EventStream, event: StreamEvent): boolean {
  if (event.status === 'init' || event.lc.owner === undefined || stream.held || isWaitingJoin(event)) return false
  return !stream.openSuccessors(event) && stream.finalAncestor(stream.positionOf(event.id)) === undefined
}

/** As `summarize` writes it. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/** A uniform sample of what is offered, in an order of chance: workers that see the same do not all begin with the same. */
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

  /** More was offered than is kept. */
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

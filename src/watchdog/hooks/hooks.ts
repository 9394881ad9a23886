import { followedState } from '../../ops/follow/follow.ts'
import type { StreamInHand } from '../../subscriptions/position/position.ts'
import type { Timing } from '../../util/clock.ts'
import { machineTiming } from '../../util/clock.ts'
import type { ExecutedDecision, Expiry } from '../decision.ts'
import type { MovedStream, PassReport } from '../report.ts'
import { DeliveryQueue } from './delivery.ts'
import { documentOf, environmentOf, eventIn, type HookEvent, isForeign, mayHaveEvents, noticeOf } from './events.ts'
import { LagMonitor } from './lag.ts'
import type { HookFeed, HookOptions } from './options.ts'
import { HookPositions, type HookShard } from './positions.ts'
import { type ReadResult, readWithRetry } from './read.ts'
import { hooksOf } from './target.ts'
import { DeliveredIds, deliveryKey, shortId } from './told.ts'

export type { HookFeed } from './options.ts'

/** Tolerated error of the clocks of foreign writers. */
const FOREIGN_MARGIN_MS = 10 * 60_000
/** Hooks are behind if more streams than this wait. */
const BEHIND = 10_000
/** Limit for streams waiting to be read, some 30 MB of names, and for concurrent reads. */
const WAITING = 100_000
const READS_AT_ONCE = 8
/** Number of delivery ids remembered to avoid duplicates. */
const MAX_DELIVERED_IDS = 50_000

/** Delivers at least once: after a crash, the next watchdog repeats deliveries in flight under the same ids. */
export function openHooks(options: HookOptions): HookFeed {
  return new Feed(options)
}

/** What a hook needs a stream for: its new transactions, or a notice. */
type Part =
  | { readonly shard: HookShard; readonly inHand: StreamInHand }
  | { readonly shard: HookShard; readonly notice: Expiry }

/** What of a stream is to be delivered, in order. */
interface Step {
  readonly event: HookEvent | undefined
  /** The transaction has no version of its own, so that only its id tells whether it was delivered. */
  readonly isNoted: boolean
  /** The position is moved here afterwards. */
  readonly version: number | undefined
}

/**
 * Connects passes with hooks. Each hook is a subscription that the passes feed: its positions tell which transactions of a
 * moved stream are new, and their events go to the delivery queue, in order for each stream.
 */
class Feed implements HookFeed {
  readonly #options: HookOptions
  readonly #timing: Timing
  readonly #told: DeliveredIds
  readonly #positions: HookPositions
  readonly #deliveries: DeliveryQueue
  readonly #waiting = new WaitingStreams()
  readonly #lag: LagMonitor
  readonly #stop = new AbortController()
  readonly #works = new Set<Promise<void>>()
  readonly #idle = new Set<() => void>()
  #reading = 0
  #left = 0
  #missed = 0
  #wantsAll = false
  #lastSweepMs: number | undefined
  #drained: Promise<void> | undefined

  constructor(options: HookOptions) {
    const { store, hooks, match, memory, limits = {}, timing = machineTiming, userAgent, onDelivery, shards } = options
    const { queue, atOnce, retryForMs } = limits
    const nowMs = () => store.nowMs()
    const all = hooksOf(hooks, match)
    const told = new DeliveredIds(limits.told ?? MAX_DELIVERED_IDS)
    this.#options = options
    this.#timing = timing
    this.#told = told
    const { signal } = this.#stop
    const positions = { hooks: all, memory, told, timing, nowMs, onTrouble: this.#reportFault, shards, signal }
    this.#positions = new HookPositions(positions, shard => this.#taken(shard))
    this.#deliveries = new DeliveryQueue({ timing, nowMs, userAgent, onDelivery, queue, atOnce, retryForMs })
    this.#lag = new LagMonitor(limits.behind ?? BEHIND, pace => options.onPace?.(pace))
  }

  get pending(): number {
    return this.#waiting.size + this.#works.size
  }

  get left(): number {
    return this.#left + this.#missed + this.pending
  }

  wantsAll(): boolean {
    const wantsAll = this.#wantsAll
    this.#wantsAll = false
    return wantsAll
  }

  async began(kind: PassReport['kind'], startedMs: number): Promise<void> {
    await this.#positions.ready()
    if (kind !== 'sweep') return
    if (this.#missed > 0 && this.#waiting.size < this.#limit / 2) this.#findMissed()
    for (const shard of this.#positions.all()) shard.beginSweep(startedMs)
  }

  async moved(streams: readonly MovedStream[]): Promise<void> {
    await this.#positions.ready()
    for (const moved of streams) {
      const shards = this.#positions.of(moved.listed.name)
      // Taken during this sweep, and its position is not read yet.
      if (shards.length === 0) this.#wantsAll = true
      for (const shard of shards) this.#find(shard, moved)
    }
    this.#next()
  }

  executed({ decision, outcome }: ExecutedDecision): void {
    const { stream: name } = decision
    const shards = this.#positions.of(name)
    if (outcome === 'ended') {
      // Its new version is not known: the position tells from the times of its transactions.
      const found = { name, modifiedMs: this.#options.store.nowMs() }
      for (const shard of shards) if (shard.position.found(found)) this.#add(shard, name)
    } else if (outcome === 'notified' && decision.kind === 'notify') {
      for (const shard of shards)
        if (shard.hook.kind === 'expired') this.#waiting.add(name, { shard, notice: decision })
    }
    this.#next()
  }

  passed({ kind, startedMs }: PassReport): void {
    if (kind === 'sweep') {
      this.#lastSweepMs = startedMs
      for (const shard of this.#positions.all()) {
        if (shard.hasMissed) continue
        shard.position.endSweep()
        shard.isSwept = shard.isSweeping
      }
    }
    this.#positions.write()
  }

  shards(held: readonly number[], total: number): void {
    this.#positions.take(held, total)
  }

  async idle(): Promise<void> {
    if (this.pending > 0 && !this.#stop.signal.aborted) await new Promise<void>(resolve => this.#idle.add(resolve))
    this.#positions.write()
    await this.#positions.written()
  }

  async drain(limitMs: number): Promise<void> {
    this.#drained ??= this.#drain(limitMs)
    await this.#drained
    // A pass completed meanwhile may have advanced the position.
    await this.#positions.flush()
  }

  async #drain(limitMs: number): Promise<void> {
    this.#stop.abort()
    this.#wake()
    await this.#deliveries.drain(limitMs)
    await Promise.all(this.#works)
  }

  get #limit(): number {
    return this.#options.limits?.waiting ?? WAITING
  }

  /** Reads the streams that the last owner of the shard left, and asks for all others. */
  #taken(shard: HookShard): void {
    this.#wantsAll = true
    for (const inHand of shard.position.inHand.values()) this.#waiting.add(inHand.name, { shard, inHand })
    this.#next()
  }

  #find(shard: HookShard, moved: MovedStream): void {
    const { listed, summary, before, isOtherLife, pin } = moved
    const { position, sinceMs } = shard
    const { name, modifiedMs } = listed
    const isKnown = before !== undefined && shard.isSwept && !shard.hasMissed
    const rules = { kinds: new Set([shard.hook.kind]), sinceMs, lastSweepMs: this.#lastSweepMs }
    const told = { ...moved, before: isKnown && !isOtherLife ? before : undefined }
    // A stream in hand may have been read before this change.
    if (!position.inHand.has(name) && !mayHaveEvents(told, rules)) return
    const born = pin.ifBorn ?? ''
    const isListed = summary !== undefined && summary === listed.summary && pin.ifBorn !== undefined
    const found = {
      name,
      modifiedMs,
      ...(isListed && { state: { version: summary.version, born } }),
      ...(isKnown && {
        before: { version: before, born: isOtherLife ? `not ${born}` : born, seenMs: this.#lastSweepMs ?? 0 },
      }),
    }
    if (position.found(found)) this.#add(shard, name)
  }

  /** Never waits: observers must not delay a pass. */
  #add(shard: HookShard, name: string): void {
    const inHand = shard.position.inHand.get(name)
    if (inHand === undefined) return
    const isFull = this.#waiting.size >= this.#limit && !this.#waiting.has(name)
    if (isFull || this.#stop.signal.aborted) {
      // The watermark stays before it.
      shard.hasMissed = true
      shard.position.forget(name)
      this.#missed += 1
      if (!this.#stop.signal.aborted) this.#lag.isFull(this.#waiting.size)
    } else {
      this.#waiting.add(name, { shard, inHand })
    }
    this.#lag.waits(this.#waiting.size)
  }

  /** There is room again: this sweep hands over all streams. */
  #findMissed(): void {
    this.#missed = 0
    this.#wantsAll = true
    for (const shard of this.#positions.all()) {
      if (shard.hasMissed) shard.isSwept = false
      shard.hasMissed = false
    }
  }

  #next(): void {
    while (this.#reading < READS_AT_ONCE && !this.#stop.signal.aborted) {
      const next = this.#waiting.take()
      if (next === undefined) return
      this.#reading += 1
      const work: Promise<void> = this.#work(...next).finally(() => {
        this.#works.delete(work)
        this.#next()
        if (this.pending === 0) this.#wake()
      })
      this.#works.add(work)
    }
  }

  /** Reads a stream once for all hooks. Others are read as soon as its deliveries are in the queue. */
  async #work(stream: string, parts: readonly Part[]): Promise<void> {
    this.#lag.waits(this.#waiting.size)
    for (const part of parts) if ('inHand' in part) part.inHand.isStale = false
    const patience = { timing: this.#timing, signal: this.#stop.signal, onTrouble: this.#reportFault }
    const read = await readWithRetry(this.#options.store, stream, patience)
    const queued = new Set(parts)
    const deliveries = parts.map(async part => {
      const steps = read.kind === 'stopped' ? 'stopped' : this.#stepsOf(stream, part, read)
      const isQueued = () => {
        if (queued.delete(part) && queued.size === 0) this.#endRead()
      }
      const isOver = steps !== 'stopped' && (await this.#deliver(stream, part, steps, isQueued))
      if (!isOver) this.#left += 1
      isQueued()
    })
    await Promise.all(deliveries)
    this.#positions.write()
  }

  #endRead(): void {
    this.#reading -= 1
    this.#next()
  }

  #stepsOf(stream: string, part: Part, read: Exclude<ReadResult, { readonly kind: 'stopped' }>): readonly Step[] {
    const { position, hook, sinceMs } = part.shard
    const { address: store } = this.#options.store
    if ('notice' in part) {
      if (read.kind === 'nothing') return []
      return [{ event: noticeOf(read.view, part.notice, store), isNoted: true, version: undefined }]
    }
    if (isOver(part)) return []
    if (read.kind === 'nothing') {
      position.forget(stream)
      return []
    }
    const rules = { store, foreignSinceMs: sinceMs - FOREIGN_MARGIN_MS }
    return position.read(part.inHand, followedState(read.view)).transactions.map(transaction => ({
      event: eventIn(read.view, transaction, hook.kind, rules),
      isNoted: isForeign(transaction),
      version: transaction.provisional ? undefined : transaction.version,
    }))
  }

  /** False if something is left to the next watchdog. @param isQueued called once the first delivery is in the queue */
  async #deliver(stream: string, part: Part, steps: readonly Step[], isQueued: () => void): Promise<boolean> {
    const { shard } = part
    for (const { event, isNoted, version } of steps) {
      if (event !== undefined && !(await this.#send(shard, event, isNoted, isQueued))) return false
      if (isOver(part)) return true
      shard.isTouched ||= event !== undefined
      if ('inHand' in part && version !== undefined) shard.position.handled(part.inHand, version)
    }
    if ('notice' in part || isOver(part)) return true
    if (part.inHand.isStale) this.#waiting.add(stream, part)
    else shard.position.finish(part.inHand)
    return true
  }

  /** True once it is delivered or given up; false if it is left. */
  async #send(shard: HookShard, event: HookEvent, isNoted: boolean, taken: () => void): Promise<boolean> {
    const { hook } = shard
    const { kind, id, stream } = event
    const key = deliveryKey(hook.key, shortId(id))
    if (this.#told.has(key)) return true
    const { store, format, environment: own } = this.#options
    let delivery: Parameters<DeliveryQueue['accept']>[0]
    try {
      const text = documentOf(event, store.address, format)
      const environment = environmentOf(event, store.address, own)
      delivery = { target: hook.target, kind, stream, id, text, environment }
    } catch (error) {
      // Reported here, since no caller sees it; one stream must not block all others.
      this.#reportFault(`${stream} cannot be delivered to hooks`, error)
      return true
    }
    const { promise, resolve } = Promise.withResolvers<boolean>()
    if (await this.#deliveries.accept(delivery, resolve)) taken()
    const isOver = await promise
    if (isOver && isNoted) shard.tell(id)
    if (isOver) this.#told.add(key)
    return isOver
  }

  #wake(): void {
    for (const resolve of this.#idle) resolve()
    this.#idle.clear()
  }

  readonly #reportFault = (message: string, error: unknown): void => this.#options.onTrouble?.(message, error)
}

/** Another watchdog goes on with the stream. */
function isOver(part: Part): boolean {
  return 'inHand' in part && (part.shard.isLost || !part.shard.position.isInHand(part.inHand))
}

/** Streams to be read, first come, first served. */
class WaitingStreams {
  readonly #parts = new Map<string, readonly Part[]>()
  /** Kept between calls: a new iterator would step over all removed entries again. */
  #order = this.#parts.entries()

  get size(): number {
    return this.#parts.size
  }

  has(stream: string): boolean {
    return this.#parts.has(stream)
  }

  add(stream: string, part: Part): void {
    this.#parts.set(stream, [...(this.#parts.get(stream) ?? []), part])
  }

  take(): [string, readonly Part[]] | undefined {
    let next = this.#order.next()
    if (next.done) {
      // A finished iterator stays finished.
      this.#order = this.#parts.entries()
      next = this.#order.next()
    }
    if (next.done) return undefined
    this.#parts.delete(next.value[0])
    return next.value
  }
}

import { shardOf } from '../ops/shards/quota.ts'
import type { StreamStore } from '../store/store.ts'
import type { Timing } from '../util/clock.ts'
import { messageOf } from '../util/errors.ts'
import { type DeliveryRules, StreamDelivery } from './deliver.ts'
import { DeliveryLanes } from './lanes.ts'
import type { FoundStream } from './position/position.ts'
import type { ShardPositions } from './positions.ts'
import { applyNewRequests, requestText } from './requests.ts'
import type { FailureRules } from './retry.ts'
import { HeldShard, type ShardRunOptions } from './shard.ts'
import type { StreamSink, StreamSource } from './source.ts'
import type { Troubles } from './troubles.ts'
import type { Handler, SubscriptionObserver } from './types.ts'

/** What one run of the engine works with. Who differs from `runSubscription` brings its own. */
export interface SubscriptionRunOptions {
  readonly name: string
  readonly handler: Handler
  /** Actor, `user@host`. */
  readonly by: string
  /** When the subscription was created, epoch ms: its lag is counted from then on. */
  readonly createdMs?: number | undefined
  /** Streams side by side, at least 1. */
  readonly concurrency: number
  /** Reports and requests of operators have this interval, but at least 1 s, ms. */
  readonly intervalMs: number
  /** Aborts handlers; default the signal that ends the run. */
  readonly abort?: AbortSignal | undefined
  readonly positions: ShardPositions
  readonly source: StreamSource
  readonly rules: DeliveryRules
  readonly retry: FailureRules
  readonly observer: SubscriptionObserver
  readonly troubles: Troubles
  readonly timing: Timing
  readonly newId: () => string
  /** The document with the requests of operators. */
  readonly requests?: string
  /** Streams in hand, at most: beyond it sweeps wait, or streams are missed, so that memory is bounded. Default 1 000. */
  readonly mostInHand?: number | undefined
  /** How often an idle shard writes how far it is, ms. Default 30 s. */
  readonly writeIdleEveryMs?: number | undefined
  /** Deliveries go on while positions cannot be written: however many may be repeated, none comes late. */
  readonly goesOnUnwritten?: boolean
}

/** Streams in hand, at most: beyond it the sweep waits, so that memory is bounded. */
const MOST_IN_HAND = 1_000
/** Interval of checks for what is due, ms. */
const TICK_MS = 100
/** The same while a run that is pushed has nothing to do, ms. */
const IDLE_TICK_MS = 1_000
/** A shard whose position cannot be read is tried again after this time, ms. */
const READ_AGAIN_MS = 2_000

/**
 * Finds, orders, delivers and remembers. One run of a subscription in this process; hooks of the watchdog are runs that its
 * passes feed.
 */
export class SubscriptionRun {
  readonly #store: StreamStore
  readonly #options: SubscriptionRunOptions
  readonly #timing: Timing
  readonly #signal: AbortSignal
  readonly #shardOptions: ShardRunOptions
  readonly #lanes: DeliveryLanes
  readonly #troubles: Troubles
  readonly #held = new Map<number, HeldShard>()
  readonly #readAgainMs = new Map<number, number>()
  readonly #waiters = new Set<() => void>()
  /** Ends the run with a fault. */
  readonly #failing = new AbortController()
  /** Ends the sweeps while no shard is held. */
  #unheld = new AbortController()
  #fault: { readonly error: unknown } | undefined
  #taking: Promise<void> | undefined
  #missed = 0
  #nextRequestsMs = 0
  #nextProgressMs = 0

  constructor(store: StreamStore, options: SubscriptionRunOptions, signal: AbortSignal) {
    const { positions, by, createdMs, timing, troubles, writeIdleEveryMs, goesOnUnwritten = false } = options
    this.#store = store
    this.#options = options
    this.#timing = timing
    this.#troubles = troubles
    this.#signal = AbortSignal.any([signal, this.#failing.signal])
    this.#signal.addEventListener('abort', () => this.#wake())
    this.#shardOptions = {
      ...{ positions, by, createdMs, timing, writeIdleEveryMs, goesOnUnwritten },
      nowMs: () => store.nowMs(),
      writing: () => {
        for (const shard of this.#held.values()) if (shard.isWorthWriting) void shard.write()
      },
      wrote: cause => {
        if (cause === undefined) this.#endPositionTrouble()
        else troubles.report('position', `the position cannot be written: ${messageOf(cause)}`, cause)
      },
    }
    const abort = options.abort === undefined ? this.#signal : AbortSignal.any([options.abort, this.#failing.signal])
    const delivery = new StreamDelivery(store, { ...options, stopping: this.#signal, abort })
    this.#lanes = new DeliveryLanes(delivery, {
      concurrency: options.concurrency,
      timing,
      stopping: this.#signal,
      held: () => [...this.#held.values()],
      ended: () => this.#wake(),
      store: (cause, stream) => {
        if (cause === undefined) troubles.isOver('store')
        else troubles.report('store', 'the store does not answer', cause, stream)
      },
      failed: error => this.#fail(error),
    })
  }

  /** Streams that were found and are not delivered, given up or left. */
  get pending(): number {
    let count = 0
    for (const { position, left } of this.#held.values()) {
      count += position.inHand.size - left.size
      for (const { state, stream } of position.halted.values())
        if (state === 'waiting' && !position.inHand.has(stream)) count += 1
    }
    return count
  }

  /** Streams of which this process has not delivered everything. */
  get left(): number {
    let count = this.pending + this.#missed
    for (const { left } of this.#held.values()) count += left.size
    return count
  }

  /** Streams with transactions to deliver, found so far. */
  get inHand(): number {
    let count = 0
    for (const { position } of this.#held.values()) count += position.inHand.size
    return count
  }

  /** Runs until the signal aborts, and ends after the deliveries in progress with all positions written. */
  async run(): Promise<void> {
    const released = new AbortController()
    const sharing = this.#options.positions.run(released.signal)
    try {
      await Promise.all([this.#guard(this.#keepTicking()), this.#guard(this.#sweep())])
      await this.#lanes.idle()
      await Promise.all([...this.#held.values()].map(shard => shard.writeLast()))
    } finally {
      released.abort()
      await sharing
    }
    if (this.#fault !== undefined) throw this.#fault.error
  }

  /** Resolves when nothing is pending and all positions are written, or when the run stops. */
  async settled(): Promise<void> {
    while (this.pending > 0 && !this.#signal.aborted) await new Promise<void>(resolve => this.#waiters.add(resolve))
    await Promise.all([...this.#held.values()].filter(shard => shard.isChanged).map(shard => shard.write()))
  }

  /** Hands over what is new of a stream, moved or not, with its notices. */
  examine(name: string): void {
    const shard = this.#shardOf(name)
    const inHand = shard?.position.inHand.get(name)
    if (shard === undefined || this.#signal.aborted) return
    if (inHand !== undefined) inHand.isStale = true
    else if (!shard.position.halted.has(name)) shard.queue(shard.position.resume(name))
    shard.mustWrite()
    this.#lanes.fill()
  }

  /** A fault that waiting does not mend ends the run. */
  async #guard(work: Promise<void>): Promise<void> {
    try {
      await work
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    if (!this.#signal.aborted) this.#fault ??= { error }
    this.#failing.abort()
  }

  async #sweep(): Promise<void> {
    const { source } = this.#options
    if (source.isPushed) return source.run(this.#sink(), this.#signal)
    while (!this.#signal.aborted) {
      if (this.#held.size === 0) await this.#timing.pause(TICK_MS, this.#signal)
      else {
        this.#unheld = new AbortController()
        await source.run(this.#sink(), AbortSignal.any([this.#signal, this.#unheld.signal]))
      }
    }
  }

  #sink(): StreamSink {
    const ifRunning = (each: (shard: HeldShard) => void) => {
      if (!this.#signal.aborted) for (const shard of this.#held.values()) each(shard)
    }
    return {
      began: startedMs => {
        if (this.#options.source.isPushed && this.inHand < this.#mostInHand / 2) this.#findMissed()
        ifRunning(({ position }) => position.beginSweep(startedMs))
      },
      moved: streams => {
        if (!this.#signal.aborted) for (const stream of streams) this.#find(stream)
        this.#lanes.fill()
      },
      passed: name => ifRunning(({ position }) => position.passed(name)),
      room: async () => {
        while (this.inHand >= this.#mostInHand && !this.#signal.aborted) {
          await new Promise<void>(resolve => this.#waiters.add(resolve))
        }
      },
      gone: names => {
        for (const name of names) this.#shardOf(name)?.position.forget(name)
      },
      ended: () => ifRunning(({ position }) => position.endSweep()),
      interrupted: cause => this.#troubles.report('store', `the store does not answer: ${messageOf(cause)}`, cause),
      resumed: () => this.#troubles.isOver('store'),
    }
  }

  get #mostInHand(): number {
    return this.#options.mostInHand ?? MOST_IN_HAND
  }

  #wake(): void {
    for (const wake of this.#waiters) wake()
    this.#waiters.clear()
  }

  #find(stream: FoundStream): void {
    const shard = this.#shardOf(stream.name)
    // It was taken meanwhile, and its position is not read yet.
    const { isPushed } = this.#options.source
    if (shard === undefined) {
      if (isPushed) this.#options.source.restart()
      return
    }
    const { position, number, isFull: isShardFull } = shard
    const isFull = isPushed ? this.inHand >= this.#mostInHand : isShardFull
    if (isFull && !position.inHand.has(stream.name) && !position.halted.has(stream.name)) {
      position.miss(isPushed)
      this.#missed += 1
      const text = `shard ${number}: ${position.halted.size} streams wait or are parked; it takes no others`
      this.#troubles.report('full', text)
      return
    }
    if (!position.found(stream)) return
    const inHand = position.inHand.get(stream.name)
    if (inHand !== undefined) shard.queue(inHand)
  }

  /** There is room again: the next sweep hands over all streams. */
  #findMissed(): void {
    const { isPushed } = this.#options.source
    const missing = [...this.#held.values()].filter(shard => shard.position.hasMissed && (isPushed || !shard.isFull))
    this.#missed = 0
    for (const { position } of missing) position.findMissed()
    if (missing.length === 0) return
    this.#troubles.isOver('full')
    this.#options.source.restart()
  }

  #shardOf(stream: string): HeldShard | undefined {
    const shard = this.#held.get(shardOf(stream, this.#options.positions.count))
    return shard?.isHeld ? shard : undefined
  }

  async #keepTicking(): Promise<void> {
    const { positions, source } = this.#options
    await Promise.race([positions.ready, this.#timing.pause(60_000, this.#signal)])
    while (!this.#signal.aborted) {
      await this.takeShards()
      await this.#applyRequests()
      this.#resumeDue()
      const shards = [...this.#held.values()]
      for (const shard of shards) shard.writeIfDue()
      this.#report()
      this.#lanes.fill()
      this.#wake()
      const isBusy = !source.isPushed || shards.some(shard => shard.hasWork)
      await this.#timing.pause(isBusy ? TICK_MS : IDLE_TICK_MS, this.#signal)
    }
  }

  /** Drops the shards that are lost, and reads the positions of new ones. Resolves when all of them are read. */
  async takeShards(): Promise<void> {
    const before = this.#taking
    this.#taking = (async () => {
      await before
      await this.#takeShards()
    })()
    await this.#taking
  }

  async #takeShards(): Promise<void> {
    for (const [number, shard] of this.#held) {
      if (shard.isHeld) continue
      shard.lose()
      this.#held.delete(number)
      if (this.#held.size === 0) this.#unheld.abort()
      this.#wake()
    }
    const nowMs = this.#timing.monotonicMs()
    const gained = this.#options.positions.held().filter(number => {
      return !this.#held.has(number) && (this.#readAgainMs.get(number) ?? 0) <= nowMs
    })
    if (gained.length === 0) return
    const read = await Promise.all(gained.map(number => this.#readShard(number)))
    if (read.includes(true)) this.#options.source.restart()
    this.#lanes.fill()
  }

  /** A position works: the trouble is over unless that of another shard cannot be read. */
  #endPositionTrouble(): void {
    if (!this.#options.positions.held().some(number => this.#readAgainMs.has(number))) this.#troubles.isOver('position')
  }

  async #readShard(number: number): Promise<boolean> {
    const { positions, rules } = this.#options
    const tenure = positions.tenureOf(number)
    if (tenure === undefined) return false
    try {
      const shard = await HeldShard.read(this.#shardOptions, number, tenure, this.#signal)
      if (!shard.isHeld) return false
      this.#held.set(number, shard)
      this.#readAgainMs.delete(number)
      this.#endPositionTrouble()
      for (const name of rules.asFound?.noticed(number) ?? []) this.examine(name)
      return true
    } catch (error) {
      if (this.#signal.aborted) return false
      this.#readAgainMs.set(number, this.#timing.monotonicMs() + READ_AGAIN_MS)
      this.#troubles.report('position', `the position of shard ${number} cannot be read: ${messageOf(error)}`, error)
      return false
    }
  }

  async #applyRequests(): Promise<void> {
    const { requests: name, intervalMs, observer, source } = this.#options
    const nowMs = this.#timing.monotonicMs()
    if (name === undefined || nowMs < this.#nextRequestsMs || this.#held.size === 0) return
    this.#nextRequestsMs = nowMs + Math.max(intervalMs, 1_000)
    try {
      const applied = await applyNewRequests(
        this.#store,
        name,
        this.#held.values(),
        this.#options.positions.count,
        this.#signal,
      )
      this.#troubles.isOver('requests')
      for (const { number, request } of applied.requests) observer.applied?.({ number, text: requestText(request) })
      if (applied.isReset) source.restart()
    } catch (error) {
      if (!this.#signal.aborted)
        this.#troubles.report('requests', `requests cannot be read: ${messageOf(error)}`, error)
    }
  }

  /** Streams whose time has come are tried again; a shard with room again finds what it missed. */
  #resumeDue(): void {
    const nowMs = this.#store.nowMs()
    let hasRoom = false
    for (const shard of this.#held.values()) {
      const { position } = shard
      for (const { stream, state, nextMs } of position.halted.values()) {
        if (state !== 'waiting' || nextMs > nowMs || position.inHand.has(stream)) continue
        shard.queue(position.resume(stream))
      }
      hasRoom ||= position.hasMissed && !shard.isFull
    }
    if (hasRoom && !this.#options.source.isPushed) this.#findMissed()
  }

  #report(): void {
    const nowMs = this.#timing.monotonicMs()
    if (nowMs < this.#nextProgressMs) return
    this.#nextProgressMs = nowMs + Math.max(this.#options.intervalMs, 1_000)
    const { progress } = this.#options.observer
    if (progress === undefined) return
    const shards = [...this.#held.values()]
    const halted = shards.flatMap(({ position }) => [...position.halted.values()])
    progress({
      lagMs: Math.max(0, ...shards.map(({ lagMs }) => lagMs)),
      rate: shards.reduce((sum, { rate }) => sum + rate, 0),
      delivered: shards.reduce((sum, { delivered }) => sum + delivered, 0),
      waiting: halted.filter(({ state }) => state === 'waiting').length,
      parked: halted.filter(({ state }) => state === 'parked').length,
      inHand: this.inHand,
      shards: shards.length,
    })
  }
}

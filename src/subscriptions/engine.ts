import { randomUUID } from 'node:crypto'
import { shardOf } from '../ops/shards/quota.ts'
import { openShards, type ShardOptions, type Shards } from '../ops/shards/shards.ts'
import { readSystemDocument } from '../ops/system-documents.ts'
import type { StreamStore } from '../store/store.ts'
import { machineTiming, type Timing } from '../util/clock.ts'
import { messageOf } from '../util/errors.ts'
import { StreamDelivery } from './deliver.ts'
import { DeliveryLanes } from './lanes.ts'
import { positionText, startPositionDocument } from './position/document.ts'
import type { FoundStream } from './position/position.ts'
import { applyRequests, parseRequests, requestText } from './requests.ts'
import { DEFAULT_TRIES } from './retry.ts'
import { HeldShard, MAX_POSITION_BYTES, type ShardRunOptions } from './shard.ts'
import { pollingSource, type StreamSink, type StreamSource } from './source.ts'
import { lagSince, openSubscription, requestsDocument, type Subscription, shardFolder } from './subscription.ts'
import type { Handler, OnPoison, SubscriptionObserver, SubscriptionSpec, SubscriptionTrouble } from './types.ts'

export interface RunSubscriptionOptions {
  readonly spec: SubscriptionSpec
  /** If the subscription is new: its first transactions, epoch ms; 0 for all. Default: those from now on. */
  readonly fromMs?: number | undefined
  readonly handler: Handler
  /** Actor, `user@host`. */
  readonly by: string
  /** Streams side by side, at least 1. */
  readonly concurrency: number
  /** Time between the starts of two sweeps, ms. */
  readonly intervalMs: number
  /** Tries of a delivery that fails. Default 8, within about a quarter of an hour. */
  readonly tries?: number | undefined
  /** Default `park`. */
  readonly onPoison?: OnPoison | undefined
  /** Only the streams of this part of all. */
  readonly partition?: ShardOptions['part']
  readonly observer?: SubscriptionObserver | undefined
  /** Aborts handlers; default the signal that ends the run. With a later one, handlers may end what they do. */
  readonly abort?: AbortSignal | undefined
  readonly timing?: Timing | undefined
  /** How long a dead process keeps its shards, seconds. Default 15. */
  readonly leaseS?: number | undefined
  readonly newId?: (() => string) | undefined
  /** Finds the streams that moved. Default: one listing per interval. */
  readonly source?: StreamSource | undefined
}

/**
 * Runs a subscription in this process until the signal aborts: delivers every transaction of its streams in order. Ends
 * after the deliveries in progress, with its position written and its shards released.
 *
 * @throws `InvalidValue` if the subscription exists with other options; `StoreIncompatible`, `BadDocument`: its document
 * is from a newer leasectl or damaged; the store's faults but `StoreUnreachable`, which is waited for
 */
export async function runSubscription(
  store: StreamStore,
  options: RunSubscriptionOptions,
  signal: AbortSignal,
): Promise<Subscription> {
  const { spec, fromMs, by } = options
  const subscription = await openSubscription(store, spec, fromMs, by, signal)
  await new SubscriptionRun(store, subscription, options, signal).run()
  return subscription
}

/** Streams in hand, at most: beyond it the sweep waits, so that memory is bounded. */
const MOST_IN_HAND = 1_000
/** Interval of checks for what is due, ms. */
const TICK_MS = 100
/** A shard whose position cannot be read is tried again after this time, ms. */
const READ_AGAIN_MS = 2_000

class SubscriptionRun {
  readonly #store: StreamStore
  readonly #subscription: Subscription
  readonly #options: RunSubscriptionOptions
  readonly #observer: SubscriptionObserver
  readonly #timing: Timing
  readonly #signal: AbortSignal
  readonly #shards: Shards
  readonly #shardOptions: ShardRunOptions
  readonly #source: StreamSource
  readonly #lanes: DeliveryLanes
  readonly #held = new Map<number, HeldShard>()
  readonly #readAgainMs = new Map<number, number>()
  readonly #troubles = new Set<string>()
  readonly #wakeSweep = new Set<() => void>()
  /** Ends the run with a fault. */
  readonly #failing = new AbortController()
  /** Ends the sweeps while no shard is held. */
  #unheld = new AbortController()
  #fault: { readonly error: unknown } | undefined
  #nextRequestsMs = 0
  #nextProgressMs = 0

  constructor(store: StreamStore, subscription: Subscription, options: RunSubscriptionOptions, signal: AbortSignal) {
    const { by, timing = machineTiming, newId = randomUUID, observer = {}, partition, leaseS, handler } = options
    const { spec, fromMs } = subscription
    this.#store = store
    this.#subscription = subscription
    this.#options = options
    this.#observer = observer
    this.#timing = timing
    this.#signal = AbortSignal.any([signal, this.#failing.signal])
    this.#signal.addEventListener('abort', () => this.#wake())
    this.#shards = openShards(store, {
      folder: shardFolder(spec.name),
      role: `subscription ${spec.name}`,
      content: positionText(startPositionDocument(fromMs, store.nowMs(), by)),
      count: spec.shards,
      by,
      timing,
      newId,
      part: partition,
      ...(leaseS !== undefined && { leaseS }),
      changed: (held, count) => observer.shards?.(held, count),
      troubled: cause => this.#trouble('shards', `shards cannot be taken or renewed: ${messageOf(cause)}`, cause),
      recovered: () => this.#recover('shards'),
    })
    this.#shardOptions = {
      shards: this.#shards,
      by,
      fromMs,
      subscription: spec.name,
      timing,
      writing: () => {
        for (const shard of this.#held.values()) if (shard.isWorthWriting) void shard.write()
      },
      wrote: trouble => this.#wrote(trouble),
    }
    this.#source = options.source ?? pollingSource(store, spec, options.intervalMs, timing)
    const delivery = new StreamDelivery(store, {
      spec,
      handler,
      by,
      retry: { tries: options.tries ?? DEFAULT_TRIES, onPoison: options.onPoison ?? 'park' },
      timing,
      newId,
      observer,
      stopping: this.#signal,
      abort: options.abort === undefined ? this.#signal : AbortSignal.any([options.abort, this.#failing.signal]),
    })
    this.#lanes = new DeliveryLanes(delivery, {
      concurrency: options.concurrency,
      timing,
      stopping: this.#signal,
      held: () => [...this.#held.values()],
      ended: () => this.#wake(),
      store: trouble => {
        if (trouble === undefined) this.#recover('store')
        else this.#trouble('store', 'the store does not answer', trouble)
      },
      failed: error => this.#fail(error),
    })
  }

  async run(): Promise<void> {
    const released = new AbortController()
    const sharing = this.#shards.run(released.signal)
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

  /** Sweeps while shards are held. */
  async #sweep(): Promise<void> {
    while (!this.#signal.aborted) {
      if (this.#held.size === 0) await this.#timing.pause(TICK_MS, this.#signal)
      else {
        this.#unheld = new AbortController()
        await this.#source.run(this.#sink(), AbortSignal.any([this.#signal, this.#unheld.signal]))
      }
    }
  }

  #sink(): StreamSink {
    return {
      began: () => {
        const nowMs = this.#store.nowMs()
        for (const { position } of this.#held.values()) position.beginSweep(nowMs)
      },
      moved: streams => this.#take(streams),
      gone: names => {
        for (const name of names) this.#shardOf(name)?.position.forget(name)
      },
      ended: () => {
        for (const { position } of this.#held.values()) position.endSweep()
      },
      interrupted: cause => this.#trouble('store', `the store does not answer: ${messageOf(cause)}`, cause),
      resumed: () => this.#recover('store'),
    }
  }

  async #take(streams: readonly FoundStream[]): Promise<void> {
    for (const stream of streams) {
      const shard = this.#shardOf(stream.name)
      if (shard !== undefined) this.#find(shard, stream)
    }
    const last = streams.at(-1)?.name
    if (last !== undefined) for (const { position } of this.#held.values()) position.passed(last)
    this.#lanes.fill()
    while (this.#inHand() >= MOST_IN_HAND && !this.#signal.aborted) {
      await new Promise<void>(resolve => this.#wakeSweep.add(resolve))
    }
  }

  #wake(): void {
    for (const wake of this.#wakeSweep) wake()
    this.#wakeSweep.clear()
  }

  #find(shard: HeldShard, stream: FoundStream): void {
    const { position } = shard
    if (shard.isFull && !position.inHand.has(stream.name) && !position.halted.has(stream.name)) {
      position.miss()
      this.#trouble(
        'full',
        `shard ${shard.number}: ${position.halted.size} streams wait or are parked; it takes no others`,
      )
      return
    }
    if (!position.found(stream)) return
    const inHand = position.inHand.get(stream.name)
    if (inHand !== undefined) shard.ready.push(inHand)
  }

  #inHand(): number {
    let count = 0
    for (const { position } of this.#held.values()) count += position.inHand.size
    return count
  }

  #shardOf(stream: string): HeldShard | undefined {
    const shard = this.#held.get(shardOf(stream, this.#shards.count))
    return shard?.isHeld ? shard : undefined
  }

  async #keepTicking(): Promise<void> {
    await Promise.race([this.#shards.ready, this.#timing.pause(60_000, this.#signal)])
    while (!this.#signal.aborted) {
      await this.#takeShards()
      await this.#applyRequests()
      this.#resumeDue()
      for (const shard of this.#held.values()) shard.writeIfDue()
      this.#report()
      this.#lanes.fill()
      await this.#timing.pause(TICK_MS, this.#signal)
    }
  }

  /** Drops the shards that are lost, and reads the positions of new ones. */
  async #takeShards(): Promise<void> {
    for (const [number, shard] of this.#held) {
      if (shard.isHeld) continue
      shard.lose()
      this.#held.delete(number)
      if (this.#held.size === 0) this.#unheld.abort()
      this.#wake()
    }
    const nowMs = this.#timing.monotonicMs()
    const gained = this.#shards.held().filter(number => {
      return !this.#held.has(number) && (this.#readAgainMs.get(number) ?? 0) <= nowMs
    })
    if (gained.length === 0) return
    const read = await Promise.all(gained.map(number => this.#readShard(number)))
    if (read.includes(true)) this.#source.restart()
  }

  async #readShard(number: number): Promise<boolean> {
    const leaseId = this.#shards.leaseIdOf(number)
    if (leaseId === undefined) return false
    try {
      const shard = await HeldShard.read(this.#store, this.#shardOptions, number, leaseId, this.#signal)
      if (!shard.isHeld) return false
      shard.showLag(() => this.#lagOf(shard))
      this.#held.set(number, shard)
      this.#recover('position')
      return true
    } catch (error) {
      if (this.#signal.aborted) return false
      this.#readAgainMs.set(number, this.#timing.monotonicMs() + READ_AGAIN_MS)
      this.#trouble('position', `the position of shard ${number} cannot be read: ${messageOf(error)}`, error)
      return false
    }
  }

  async #applyRequests(): Promise<void> {
    const nowMs = this.#timing.monotonicMs()
    if (nowMs < this.#nextRequestsMs || this.#held.size === 0) return
    this.#nextRequestsMs = nowMs + Math.max(this.#options.intervalMs, 1_000)
    const name = requestsDocument(this.#subscription.spec.name)
    try {
      const requests = parseRequests(
        name,
        await readSystemDocument(this.#store, name, this.#signal, MAX_POSITION_BYTES),
      )
      this.#recover('requests')
      const shown = new Set<number>()
      let isReset = false
      for (const shard of this.#held.values()) {
        const applied = applyRequests(shard.position, requests, shard.number, this.#shards.count)
        isReset ||= applied.isReset
        if (applied.requests.length === 0) continue
        shard.mustWrite()
        void shard.write()
        for (const { number, request } of applied.requests) {
          if (shown.has(number)) continue
          shown.add(number)
          this.#observer.applied?.({ number, text: requestText(request) })
        }
      }
      if (isReset) this.#source.restart()
    } catch (error) {
      if (!this.#signal.aborted) this.#trouble('requests', `requests cannot be read: ${messageOf(error)}`, error)
    }
  }

  /** Streams whose time has come are tried again; a shard with room again finds what it missed. */
  #resumeDue(): void {
    const nowMs = this.#store.nowMs()
    for (const shard of this.#held.values()) {
      const { position } = shard
      for (const { stream, state, nextMs } of position.halted.values()) {
        if (state !== 'waiting' || nextMs > nowMs || position.inHand.has(stream)) continue
        shard.ready.push(position.resume(stream))
      }
      if (position.hasMissed && !shard.isFull) {
        position.findMissed()
        this.#recover('full')
        this.#source.restart()
      }
    }
  }

  #lagOf({ position }: HeldShard): number {
    const nowMs = this.#store.nowMs()
    let oldestMs = nowMs
    for (const { sinceMs } of position.inHand.values()) oldestMs = Math.min(oldestMs, sinceMs)
    for (const { state, sinceMs } of position.halted.values()) {
      if (state === 'waiting' && sinceMs > 0) oldestMs = Math.min(oldestMs, sinceMs)
    }
    return lagSince(oldestMs, this.#subscription.createdMs, nowMs)
  }

  #report(): void {
    const nowMs = this.#timing.monotonicMs()
    if (nowMs < this.#nextProgressMs) return
    this.#nextProgressMs = nowMs + Math.max(this.#options.intervalMs, 1_000)
    if (this.#observer.progress === undefined) return
    const shards = [...this.#held.values()]
    const halted = shards.flatMap(({ position }) => [...position.halted.values()])
    this.#observer.progress({
      lagMs: Math.max(0, ...shards.map(shard => this.#lagOf(shard))),
      rate: shards.reduce((sum, { rate }) => sum + rate, 0),
      delivered: shards.reduce((sum, { delivered }) => sum + delivered, 0),
      waiting: halted.filter(({ state }) => state === 'waiting').length,
      parked: halted.filter(({ state }) => state === 'parked').length,
      inHand: this.#inHand(),
      shards: shards.length,
    })
  }

  #wrote(trouble: unknown): void {
    if (trouble === undefined) this.#recover('position')
    else this.#trouble('position', `the position cannot be written: ${messageOf(trouble)}`, trouble)
  }

  #trouble(what: SubscriptionTrouble['what'], text: string, cause?: unknown): void {
    if (this.#troubles.has(what)) return
    this.#troubles.add(what)
    this.#observer.troubled?.({ what, text, ...(cause !== undefined && { cause }) })
  }

  #recover(what: SubscriptionTrouble['what']): void {
    if (this.#troubles.delete(what)) this.#observer.recovered?.(what)
  }
}

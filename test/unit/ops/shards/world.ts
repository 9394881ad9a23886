import { shardOf } from '../../../../src/ops/shards/quota.ts'
import { openShards, type ShardOptions, type Shards } from '../../../../src/ops/shards/shards.ts'
import type { BlockLog } from '../../../../src/store/block-log.ts'
import { StoreUnreachable } from '../../../../src/store/errors.ts'
import { openMemoryStore } from '../../../../src/store/memory.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import type { Timing } from '../../../../src/util/clock.ts'

const START_MS = Date.UTC(2026, 10, 20, 12)

/** Time that passes when the test says so, for all watchdogs in it. */
export class VirtualTime {
  nowMs = START_MS
  readonly #sleepers = new Set<{ readonly atMs: number; readonly wake: () => void }>()

  pause(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise(resolve => {
      const sleeper = { atMs: this.nowMs + Math.max(0, ms), wake: () => resolve() }
      this.#sleepers.add(sleeper)
      signal.addEventListener('abort', () => {
        this.#sleepers.delete(sleeper)
        resolve()
      })
    })
  }

  async advance(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms
    for (;;) {
      await settled()
      let next: { readonly atMs: number; readonly wake: () => void } | undefined
      for (const sleeper of this.#sleepers) if (next === undefined || sleeper.atMs < next.atMs) next = sleeper
      if (next === undefined || next.atMs > untilMs) break
      this.#sleepers.delete(next)
      this.nowMs = Math.max(this.nowMs, next.atMs)
      next.wake()
    }
    this.nowMs = untilMs
    await settled()
  }
}

/** All work without a wait is done. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise(resolve => setImmediate(resolve))
}

/** The behavior of a watchdog's store: normal, unreachable, or executing requests without an answer. */
type Line = 'up' | 'away' | 'mute'

/** A process with a line to the store: it is suspended and killed when the test says so. */
export class Machine {
  readonly time: VirtualTime
  readonly timing: Timing
  line: Line = 'up'
  /** The number of requests to the store. */
  requests = 0
  isDead = false
  isSuspended = false
  #sleptMs = 0
  #suspendedAtMs = 0
  #wakeUp = Promise.withResolvers<void>()

  constructor(time: VirtualTime, random: () => number) {
    this.time = time
    this.timing = {
      random,
      monotonicMs: () =>
        this.time.nowMs - this.#sleptMs - (this.isSuspended ? this.time.nowMs - this.#suspendedAtMs : 0),
      wallMs: () => this.time.nowMs,
      pause: async (ms, signal) => {
        await this.time.pause(ms, signal)
        await this.#awake()
      },
    }
  }

  /** It acts on its own knowledge. */
  get acts(): boolean {
    return !this.isDead && !this.isSuspended
  }

  kill(): void {
    this.isDead = true
    this.suspend()
  }

  suspend(): void {
    if (this.isSuspended) return
    this.isSuspended = true
    this.#suspendedAtMs = this.time.nowMs
    this.#wakeUp = Promise.withResolvers<void>()
  }

  resume(): void {
    if (!this.isSuspended || this.isDead) return
    this.#sleptMs += this.time.nowMs - this.#suspendedAtMs
    this.isSuspended = false
    this.#wakeUp.resolve()
  }

  async #awake(): Promise<void> {
    while (this.isSuspended) await this.#wakeUp.promise
  }

  /** The store, or one of its logs, as this process reaches it. @param wrote called with the name of what it writes */
  lineTo<Target extends StreamStore | BlockLog>(target: Target, wrote: (name: string) => void = () => {}): Target {
    const away = () => new StoreUnreachable('no answer')
    return new Proxy(target, {
      get: (_, key) => {
        const value: unknown = Reflect.get(target, key)
        if (typeof value !== 'function' || key === 'nowMs') return value
        if (key === 'log') return (name: string) => this.lineTo((target as StreamStore).log(name), () => wrote(name))
        return async (...args: unknown[]) => {
          await this.#awake()
          this.requests++
          if (this.line === 'away' || (this.line === 'mute' && key === 'read')) throw away()
          if (WRITES.has(key)) wrote(String(args[0]))
          const answer: unknown = await value.apply(target, args)
          await this.#awake()
          return this.line === 'mute' ? { kind: 'unknown', cause: away() } : answer
        }
      },
    })
  }
}

const WRITES: ReadonlySet<string | symbol> = new Set(['create', 'update', 'append', 'remove', 'trim'])

/** A watchdog's process, as far as its shards go. */
export class Dog extends Machine {
  readonly shards: Shards
  /** Its last notification about its shards. */
  told: readonly number[] = []
  /** All of them, in order. */
  readonly news: (readonly number[])[] = []
  moves = 0
  troubles = 0
  recoveries = 0
  readonly #stop = new AbortController()
  readonly #running: Promise<void>
  #ids = 0

  constructor(
    time: VirtualTime,
    store: StreamStore,
    name: string,
    { count, part }: Pick<ShardOptions, 'count' | 'part'>,
    random: () => number,
  ) {
    super(time, random)
    this.shards = openShards(this.lineTo(store), {
      folder: '.leasectl/watchdog/shards',
      role: 'watchdog',
      count,
      part,
      by: name,
      newId: () => `${name}-${++this.#ids}`,
      timing: this.timing,
      changed: held => {
        this.told = held
        this.news.push(held)
        this.moves++
      },
      troubled: () => this.troubles++,
      recovered: () => this.recoveries++,
    })
    this.#running = this.shards.run(this.#stop.signal)
  }

  async stop(): Promise<void> {
    this.resume()
    this.#stop.abort()
    this.isDead = true
    await this.#running
  }
}

/** Watchdogs that share one store and this number of shards. */
export class Kennel {
  readonly time = new VirtualTime()
  readonly store = openMemoryStore({ clock: () => this.time.nowMs })
  readonly dogs: Dog[] = []
  readonly #count: number
  readonly #random: () => number
  /** A stream of each shard. */
  readonly #streams: readonly string[]

  constructor(count: number, random: () => number = seeded(1)) {
    this.#count = count
    this.#random = random
    const streams: string[] = []
    for (let at = 0; streams.filter(Boolean).length < count; at++) streams[shardOf(`s${at}`, count)] ??= `s${at}`
    this.#streams = streams
  }

  start(count = this.#count, part?: ShardOptions['part']): Dog {
    const dog = new Dog(this.time, this.store, `dog${this.dogs.length}`, { count, part }, this.#random)
    this.dogs.push(dog)
    return dog
  }

  get acting(): readonly Dog[] {
    return this.dogs.filter(dog => dog.acts)
  }

  /** For each shard the number of watchdogs that consider it theirs. */
  owners(): number[] {
    const dogs = this.acting.filter(({ shards }) => shards.count === this.#count)
    return this.#streams.map(stream => dogs.filter(({ shards }) => shards.owns(stream)).length)
  }

  /** Lets time pass, and checks all the while that no shard has two owners. */
  async pass(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= 250) {
      await this.time.advance(Math.min(250, leftMs))
      const owners = this.owners()
      if (owners.some(count => count > 1)) throw new Error(`a shard has several owners: ${owners.join(' ')}`)
    }
  }

  /** The number of shards of each active watchdog, the most first. */
  shares(): number[] {
    return this.acting.map(({ shards }) => shards.held().length).sort((a, b) => b - a)
  }

  async end(): Promise<void> {
    for (const dog of this.dogs) if (!dog.isDead) await dog.stop()
  }
}

/** Repeatable randomness. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

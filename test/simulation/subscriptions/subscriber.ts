import { randomUUID } from 'node:crypto'
import { StoreUnreachable } from '../../../src/store/errors.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { runSubscription } from '../../../src/subscriptions/engine.ts'
import type { Delivery, Handled } from '../../../src/subscriptions/types.ts'
import type { SeenDelivery } from '../../support/deliveries.ts'
import { Clock } from '../clock.ts'
import { Actor } from '../scheduler.ts'
import { viewOf, type World } from '../world.ts'

/** A delivery with the process that handled it, and which of its lives. */
export interface HandledDelivery extends SeenDelivery {
  readonly life: string
}

export interface SubscriberOptions {
  readonly name: string
  readonly shards: number
  /** Afterwards it is neither killed nor suspended, epoch ms. */
  readonly troubledUntilMs: number
  /** Whether positions cannot be written at a time. */
  readonly withoutPositions: (atMs: number) => boolean
  readonly handled: (delivery: HandledDelivery) => void
  readonly fault: (kind: string) => void
}

const LIVES_MS = [15_000, 120_000] as const
const DOWN_MS = [500, 25_000] as const
/** Longer than a lease, and shorter. */
const SUSPENDED_MS = [2_000, 40_000] as const
const HANDLER_MS = [5, 20_000] as const

/** A process of a subscription that is killed, stopped or suspended now and then, and started again. */
export class Subscriber {
  readonly #world: World
  readonly #options: SubscriberOptions
  #lives = 0
  #actor: Actor | undefined

  constructor(world: World, options: SubscriberOptions) {
    this.#world = world
    this.#options = options
  }

  begin(): void {
    const { scheduler, random } = this.#world
    const { name, troubledUntilMs, fault } = this.#options
    const actor = new Actor(scheduler, name, random.for(`life ${++this.#lives}`))
    this.#actor = actor
    const stop = new AbortController()
    actor.spawn(async () => {
      await this.#run(actor, stop.signal)
      this.#beginLater(actor)
    })
    const end = actor.random.pick(['kill', 'stop', 'suspend'])
    const endMs = scheduler.nowMs + actor.random.between(...LIVES_MS)
    const suspendedMs = actor.random.between(...SUSPENDED_MS)
    if (endMs > troubledUntilMs) return
    scheduler.at(endMs, () => {
      if (!actor.isAlive) return
      if (end === 'kill') return this.kill()
      fault(end === 'stop' ? 'stopped' : 'suspended')
      if (end === 'stop') stop.abort()
      else actor.stopUntil(endMs + suspendedMs)
    })
  }

  /** Kills it now, and starts it again later. */
  kill(): void {
    const actor = this.#actor
    if (!actor?.isAlive) return
    this.#options.fault('killed')
    actor.die()
    this.#beginLater(actor)
  }

  #beginLater(actor: Actor): void {
    const { scheduler } = this.#world
    // It has ended by itself: it is not to be killed as well.
    actor.die()
    scheduler.at(scheduler.nowMs + actor.random.between(...DOWN_MS), () => this.begin())
  }

  async #run(actor: Actor, signal: AbortSignal): Promise<void> {
    const { scheduler } = this.#world
    const { name, shards } = this.#options
    const { random } = actor
    const jumps = [{ atMs: scheduler.nowMs + random.between(0, 60_000), byMs: random.pick([-3_600_000, 3_600_000, 0]) }]
    const machine = new Clock(scheduler, { rate: random.between(0.98, 1.02), jumps })
    try {
      await runSubscription(
        this.#withPositionFaults(viewOf(this.#world, actor)),
        {
          spec: {
            name: 'billing',
            match: ['orders/**'],
            notMatch: [],
            ops: [],
            eventNames: [],
            doneOnly: false,
            shards,
          },
          fromMs: 0,
          handler: delivery => this.#handle(delivery, actor),
          by: name,
          concurrency: 8,
          intervalMs: this.#world.settings.intervalMs,
          newId: randomUUID,
          timing: {
            monotonicMs: machine.monotonicMs,
            wallMs: machine.nowMs,
            random: random.fraction,
            pause: (ms, until) => actor.pause(ms / machine.rate, until),
          },
        },
        signal,
      )
    } catch (error) {
      // At its start it does not wait for the store: it is started again.
      if (!(error instanceof StoreUnreachable)) throw error
    }
  }

  async #handle({ stream, transaction: { version } }: Delivery, actor: Actor): Promise<Handled> {
    const { random } = actor
    const life = `${actor.name}.${this.#lives}`
    await actor.pause(random.spread(...HANDLER_MS))
    if (random.chance(0.03)) return { kind: 'failed', why: 'not today' }
    if (random.chance(0.02)) return { kind: 'transient', why: 'busy' }
    this.#options.handled({ stream, version, life })
    return { kind: 'handled' }
  }

  #withPositionFaults(view: StreamStore): StreamStore {
    const { withoutPositions, fault } = this.#options
    const update: StreamStore['update'] = async (name, ...rest) => {
      if (name.includes('/shards/') && withoutPositions(this.#world.scheduler.nowMs)) {
        fault('position not written')
        throw new StoreUnreachable(`${name}: away`)
      }
      return view.update(name, ...rest)
    }
    return new Proxy(view, {
      get(target, key) {
        if (key === 'update') return update
        const inner: unknown = Reflect.get(target, key)
        return typeof inner === 'function' ? inner.bind(target) : inner
      },
    })
  }
}

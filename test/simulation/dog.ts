import { StoreUnreachable } from '../../src/store/errors.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { runWatchdog } from '../../src/watchdog/loop.ts'
import type { WatchdogOptions } from '../../src/watchdog/options.ts'
import type { Observer } from '../../src/watchdog/report.ts'
import type { DogSettings } from './allowance.ts'
import { Clock, type ClockFault } from './clock.ts'
import { Actor } from './scheduler.ts'
import { viewOf, type World } from './world.ts'

/** A watchdog of a run. */
export interface DogPlan {
  readonly name: string
  /** The clock of its machine. */
  readonly machine: ClockFault
  /** Its lifetime before it is killed or stopped, ms; `undefined`: unlimited. */
  readonly livesMs?: readonly [number, number]
  readonly downMs?: readonly [number, number]
}

/** A watchdog that is killed now and then, and started again. */
export class Dog {
  readonly settings: DogSettings
  readonly #world: World
  readonly #plan: DogPlan
  #lives = 0
  #actor: Actor | undefined

  constructor(world: World, plan: DogPlan) {
    this.#world = world
    this.#plan = plan
    const { intervalMs } = world.settings
    const rate = plan.machine.rate ?? 1
    this.settings = {
      name: plan.name,
      // Two observations are an interval apart by the store's clock too: a fast machine is not sooner.
      intervalMs: (intervalMs + 1_000) / Math.min(rate, 1),
      apartMs: intervalMs / rate,
      slowness: Math.max(0, 1 - rate),
    }
  }

  begin(): void {
    const { scheduler, random, trace } = this.#world
    const { name, livesMs, downMs = [0, 0] } = this.#plan
    const actor = new Actor(scheduler, name, random.for(`life ${++this.#lives}`))
    this.#actor = actor
    const stop = new AbortController()
    trace.add({ kind: 'up', atMs: scheduler.nowMs, who: name })
    actor.spawn(async () => {
      await this.#run(actor, stop.signal)
      this.#ended(actor, downMs)
    })
    if (livesMs === undefined) return
    const isKilled = actor.random.chance(0.5)
    scheduler.at(scheduler.nowMs + actor.random.between(...livesMs), () => {
      if (isKilled) this.#killed(actor, downMs)
      else stop.abort()
    })
  }

  /** Kills it now, and starts it again this much later, ms. */
  crash(downMs: number): void {
    if (this.#actor?.isAlive) this.#killed(this.#actor, [downMs, downMs])
  }

  /** Its process is suspended. */
  stopUntil(untilMs: number): void {
    const { trace, scheduler } = this.#world
    this.#actor?.stopUntil(untilMs)
    const { name: who } = this.#plan
    trace.add({ kind: 'fault', atMs: scheduler.nowMs, who, call: 'process', stream: '', fault: 'stopped', untilMs })
  }

  #killed(actor: Actor, downMs: readonly [number, number]): void {
    actor.die()
    this.#ended(actor, downMs)
  }

  #ended(actor: Actor, downMs: readonly [number, number]): void {
    const { scheduler, trace } = this.#world
    trace.add({ kind: 'down', atMs: scheduler.nowMs, who: actor.name })
    scheduler.at(scheduler.nowMs + actor.random.between(...downMs), () => this.begin())
  }

  async #run(actor: Actor, signal: AbortSignal): Promise<void> {
    const { scheduler, settings } = this.#world
    const view = viewOf(this.#world, actor)
    const machine = new Clock(scheduler, this.#plan.machine)
    const timing = {
      monotonicMs: machine.monotonicMs,
      wallMs: machine.nowMs,
      random: actor.random.fraction,
      pause: (ms: number, signal: AbortSignal) => actor.pause(ms / machine.rate, signal),
    }
    const options: WatchdogOptions = {
      intervalMs: settings.intervalMs,
      onDue: 'abort-event',
      maxPerPass: 1_000,
      maxShare: 0.2,
      concurrency: 8,
      by: actor.name,
      observers: [this.#observer(actor)],
      timing,
      ...settings.sabotage?.options,
    }
    const { store = own, run = runWatchdog } = settings.sabotage ?? {}
    await run(store(view), options, signal)
  }

  #observer(actor: Actor): Observer {
    const { trace, scheduler } = this.#world
    const note = () => ({ atMs: scheduler.nowMs, who: actor.name })
    return {
      executed: ({ decision, outcome }) => {
        const { stream, commandId } = decision
        const event = decision.kind === 'settle' ? '' : decision.event
        trace.add({ ...note(), kind: 'carried', stream, event, commandId, outcome })
      },
      passed: ({ breaker }) => {
        if (breaker.isOpen)
          trace.add({ ...note(), kind: 'breaker', why: `${breaker.wouldEnd} of ${breaker.openEvents}` })
      },
      failed: ({ code, error }) => {
        if (!(error instanceof StoreUnreachable)) scheduler.fail(error)
        trace.add({ ...note(), kind: 'failed-pass', why: code })
      },
      gap: (fromMs, toMs, why) => trace.add({ ...note(), kind: 'blind', why: `${why} ${toMs - fromMs}` }),
    }
  }
}

function own(view: StreamStore): StreamStore {
  return view
}

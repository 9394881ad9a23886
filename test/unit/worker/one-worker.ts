import { openMemoryStore } from '../../../src/store/memory.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import type { WorkerTiming } from '../../../src/util/clock.ts'
import type { EventWorkOptions, Job, Work, WorkResult } from '../../../src/worker/types.ts'
import { workEvent } from '../../../src/worker/work-event.ts'
import { Random } from '../../simulation/random.ts'
import { Actor, Scheduler } from '../../simulation/scheduler.ts'
import { init, resultOf, run } from '../ops/support.ts'

export const START_MS = Date.parse('2026-03-01T00:00:00.000Z')

/** One worker in virtual time, whose own clock may be set. */
export class Bench {
  readonly scheduler = new Scheduler(START_MS)
  readonly actor = new Actor(this.scheduler, 'worker', new Random('one'))
  /** The error of the machine's clock, ms. */
  skewMs = 0
  readonly timing: WorkerTiming = {
    monotonicMs: () => this.scheduler.nowMs - START_MS,
    wallMs: () => this.scheduler.nowMs + this.skewMs,
    random: this.actor.random.fraction,
    pause: (ms, signal) => this.actor.pause(ms, signal),
    tick: () => this.actor.pause(0),
  }
  readonly store: StreamStore

  constructor(around: (store: StreamStore) => StreamStore = store => store) {
    // Without a change token, as on Azure: only heartbeats detect changes.
    const base = openMemoryStore({ clock: () => this.scheduler.nowMs })
    this.store = around(
      new Proxy(base, { get: (target, key) => (key === 'changeToken' ? undefined : bound(target, key)) }),
    )
  }

  async stream(forks: readonly string[] = ['A'], name = 's'): Promise<void> {
    resultOf(await run(this.store, name, init(forks)))
  }

  work(work: Work, options: Partial<EventWorkOptions> = {}, event = '01.00') {
    return workEvent(this.store, { stream: 's', event }, { owner: 'w1', timing: this.timing, ...options }, work)
  }

  /** Runs the simulation until the promise is settled, or for this time. */
  async settle<Value>(promise: Promise<Value>, forMs = 3_600_000): Promise<Value> {
    let settled = false
    promise.then(
      () => (settled = true),
      () => (settled = true),
    )
    for (let ms = 0; ms <= forMs && !settled; ms += 500) await this.scheduler.run(START_MS + ms)
    return promise
  }

  at(ms: number, run: () => void): void {
    this.scheduler.at(START_MS + ms, run)
  }

  /** Work that takes this time, or until it is stopped. */
  lasting(ms: number, ending?: WorkResult): Work {
    return async (job: Job) => {
      await this.actor.pause(ms, job.signal)
      return ending
    }
  }
}

function bound(target: StreamStore, key: string | symbol): unknown {
  const value: unknown = Reflect.get(target, key, target)
  return typeof value === 'function' ? value.bind(target) : value
}

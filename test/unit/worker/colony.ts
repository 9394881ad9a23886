import { randomUUID } from 'node:crypto'
import { openMemoryStore } from '../../../src/store/memory.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import type { WorkerTiming } from '../../../src/util/clock.ts'
import { runWatchdog } from '../../../src/watchdog/loop.ts'
import { workLoop } from '../../../src/worker/loop.ts'
import type { Job, LoopReport, WorkerEvent, WorkResult } from '../../../src/worker/types.ts'
import { Clock } from '../../simulation/clock.ts'
import { type FaultRates, NO_FAULTS, type Outage, Weather } from '../../simulation/faults.ts'
import { FaultyStore } from '../../simulation/faulty-store.ts'
import { Random } from '../../simulation/random.ts'
import { Actor, Scheduler } from '../../simulation/scheduler.ts'
import { Sights } from '../../simulation/sights.ts'
import { Trace } from '../../simulation/trace.ts'
import { resultOf, run } from '../ops/support.ts'

const START_MS = Date.parse('2026-03-01T00:00:00.000Z')
const CLAIM_MS = 60_000
const SLICE_MS = 300_000
const LEASE_S = 60
/** When the lease of a dead process has ended, a worker may lose its event, and has this time to be informed, ms. */
const TOLD_MS = 5_000

export interface ColonySettings {
  readonly seed: string
  readonly streams: number
  /** How many workers there are at a time. */
  readonly workers: number
  /** The number of times that a killed worker is replaced by another one. */
  readonly kills: number
  readonly rates?: FaultRates
  /** Ms from the beginning. */
  readonly outages?: readonly Outage[]
  readonly maxAttempts?: number
  /** The duration of work, ms. */
  readonly workMs?: readonly [number, number]
  /** Every branch has this timeout, and a watchdog watches it. */
  readonly timeout?: string
  /** The number of times that a lease is taken for a minute by a process that then dies. */
  readonly deadLeases?: number
}

const FORKS = ['A', 'B', 'A']

/** An actual time of work on an event. */
interface Stretch {
  readonly key: string
  readonly attempt: number
  readonly who: string
  /** Still working: not done, not stopped, not dead. */
  isOn: boolean
}

/** Workers in a simulation with virtual time and an unreliable network, and their actual work. */
export class Colony {
  readonly base: StreamStore
  readonly scheduler = new Scheduler(START_MS)
  readonly reports: LoopReport[] = []
  readonly runs = new Map<string, number>()
  /** Two workers on the same event at the same time, neither of them stopped. */
  readonly clashes: string[] = []
  /** Claims that were abandoned although no other worker had the event: no heartbeat was confirmed. */
  expired = 0
  readonly #stretches: Stretch[] = []
  readonly #random: Random
  readonly #trace = new Trace(START_MS)
  readonly #sights = new Sights()
  readonly #settings: ColonySettings

  constructor(settings: ColonySettings) {
    this.#settings = settings
    this.#random = new Random(settings.seed)
    this.base = openMemoryStore({ clock: new Clock(this.scheduler).nowMs })
  }

  /** @returns names of the streams that did not end */
  async live(forMs: number): Promise<string[]> {
    const { streams, workers, kills, deadLeases = 0, timeout } = this.#settings
    const forks = FORKS.map(name => ({ name, ...(timeout === undefined ? {} : { timeout }) }))
    for (let at = 0; at < streams; at++) {
      resultOf(
        await run(this.base, `s/${at}`, {
          op: 'init',
          root: { name: 'Start' },
          forks,
          join: { name: 'J' },
          hold: false,
          born: `born-${at}`,
        }),
      )
    }
    for (let at = 0; at < workers; at++) this.#employ(`worker-${at}`, at < kills)
    if (timeout !== undefined) this.#watchOver()
    for (let at = 0; at < deadLeases; at++) this.#leaveLeased(this.#random.between(0, 600_000))
    let open = await this.#open()
    for (let ms = SLICE_MS; ms <= forMs && open.length > 0; ms += SLICE_MS) {
      await this.scheduler.run(START_MS + ms)
      open = await this.#open()
    }
    return open
  }

  async #open(): Promise<string[]> {
    const open: string[] = []
    for await (const page of this.base.list({})) {
      for (const { name, summary } of page) if (summary?.status !== 'completed') open.push(name)
    }
    return open
  }

  #watchOver(): void {
    const actor = new Actor(this.scheduler, 'watchdog', this.#random)
    const timing = {
      monotonicMs: () => this.scheduler.nowMs,
      wallMs: () => this.scheduler.nowMs,
      random: actor.random.fraction,
      pause: (ms: number, signal: AbortSignal) => actor.pause(ms, signal),
    }
    const limits = { maxPerPass: 1_000, maxShare: 1, concurrency: 8 }
    const options = {
      intervalMs: 2_000,
      onDue: 'abort-event',
      ...limits,
      by: 'watchdog',
      observers: [],
      timing,
    } as const
    actor.spawn(() => runWatchdog(this.base, options, new AbortController().signal))
  }

  #leaveLeased(afterMs: number): void {
    const name = `s/${this.#random.whole(0, this.#settings.streams - 1)}`
    const holder = { by: 'dead', host: '', pid: 0, purpose: '', sinceMs: START_MS + afterMs }
    const lease = { leaseId: randomUUID(), durationS: LEASE_S, holder }
    this.scheduler.at(START_MS + afterMs, () => void this.base.acquireLease(name, lease))
  }

  #employ(name: string, isDoomed: boolean): void {
    const { rates = NO_FAULTS, outages = [] } = this.#settings
    const actor = new Actor(this.scheduler, name, this.#random)
    const clock = new Clock(this.scheduler)
    const weather = new Weather(
      outages.map(({ fromMs, toMs, who }) => ({ fromMs: START_MS + fromMs, toMs: START_MS + toMs, who })),
    )
    const store = new FaultyStore({
      base: this.base,
      actor,
      clock,
      rates,
      weather,
      trace: this.#trace,
      sights: this.#sights,
    })
    const timing: WorkerTiming = {
      monotonicMs: clock.monotonicMs,
      wallMs: clock.nowMs,
      random: actor.random.fraction,
      pause: (ms, signal) => actor.pause(ms, signal),
      tick: () => actor.pause(0),
    }
    const { maxAttempts } = this.#settings
    const options = {
      names: ['A', 'B', 'J', 'N'],
      owner: name,
      claimMs: CLAIM_MS,
      leaseWaitMs: 5_000,
      concurrency: actor.random.whole(1, 3),
      timing,
      observe: (happening: WorkerEvent) => {
        const { outcome } = happening.kind === 'outcome' ? happening : {}
        if (outcome?.kind === 'lost' && outcome.lost.code === 'claim-expired') this.expired += 1
      },
      ...(maxAttempts === undefined ? {} : { maxAttempts }),
    }
    actor.spawn(async () => void this.reports.push(await workLoop(store, options, job => this.#work(job, actor))))
    if (!isDoomed) return
    this.scheduler.at(START_MS + actor.random.between(10_000, 200_000), () => {
      actor.die()
      for (const stretch of this.#stretches) if (stretch.who === name) stretch.isOn = false
      this.#employ(`${name}x`, false)
    })
  }

  #clash(other: Stretch, text: string): void {
    const judge = () => {
      if (other.isOn) this.clashes.push(text)
    }
    if (this.#settings.deadLeases === undefined) judge()
    else this.scheduler.at(this.scheduler.nowMs + TOLD_MS, judge)
  }

  async #work(job: Job, actor: Actor): Promise<WorkResult | undefined> {
    const key = `${job.stream} ${job.event.id}`
    const stretch: Stretch = { key, attempt: job.attempt, who: actor.name, isOn: true }
    const other = this.#stretches.find(each => each.key === key && each.isOn)
    if (other !== undefined) this.#clash(other, `${key}: ${other.who} and ${actor.name}`)
    this.#stretches.push(stretch)
    this.runs.set(job.attemptKey, (this.runs.get(job.attemptKey) ?? 0) + 1)
    job.signal.addEventListener('abort', () => (stretch.isOn = false))
    await actor.pause(actor.random.spread(...(this.#settings.workMs ?? [500, 100_000])), job.signal)
    stretch.isOn = false
    if (job.event.name === 'A') return { op: 'advance', next: { name: 'N' } }
    if (actor.random.chance(0.1)) throw new Error('boom')
    return undefined
  }
}

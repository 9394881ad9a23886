import { workLoop } from '../../../src/worker/loop.ts'
import type { Job, WorkerEvent, WorkResult } from '../../../src/worker/types.ts'
import { Clock, type ClockFault } from '../clock.ts'
import type { Random } from '../random.ts'
import { Actor } from '../scheduler.ts'
import { viewOf, type World } from '../world.ts'
import { DOUBT_MS, type Register } from './register.ts'

const CLAIM_MS = 60_000
const WORK_MS = [500, 150_000] as const
/** The size of streams is limited. */
const DEEPEST = 8

/** A process with a real worker loop that may crash, be suspended for a while, and is started again. */
export class Employee {
  readonly #world: World
  readonly #register: Register
  readonly #name: string
  readonly #machine: ClockFault
  #lives = 0
  #actor: Actor | undefined

  constructor(world: World, register: Register, name: string, machine: ClockFault) {
    this.#world = world
    this.#register = register
    this.#name = name
    this.#machine = machine
  }

  begin(): void {
    const { scheduler, random, trace } = this.#world
    const actor = new Actor(scheduler, this.#name, random.for(`life ${++this.#lives}`))
    this.#actor = actor
    trace.add({ kind: 'up', atMs: scheduler.nowMs, who: this.#name })
    const machine = new Clock(scheduler, this.#machine)
    const options = {
      names: ['A', 'B', 'J', 'N', 'U'],
      owner: `${this.#name}.${this.#lives}`,
      claimMs: CLAIM_MS,
      leaseWaitMs: 5_000,
      concurrency: actor.random.whole(1, 3),
      observe: (happening: WorkerEvent) => this.#observe(happening),
      timing: {
        monotonicMs: machine.monotonicMs,
        wallMs: machine.nowMs,
        random: actor.random.fraction,
        pause: (ms: number, signal: AbortSignal) => actor.pause(ms / machine.rate, signal),
        tick: () => actor.pause(0),
      },
    }
    const view = viewOf(this.#world, actor)
    const store = this.#world.settings.sabotage?.store?.(view) ?? view
    actor.spawn(async () => void (await workLoop(store, options, job => this.#work(job, actor))))
  }

  crash(downMs: number): void {
    const { scheduler, trace } = this.#world
    if (!this.#actor?.isAlive) return
    this.#actor.die()
    this.#register.died(this.#actor)
    trace.add({ kind: 'down', atMs: scheduler.nowMs, who: this.#name })
    scheduler.at(scheduler.nowMs + downMs, () => this.begin())
  }

  stopUntil(untilMs: number): void {
    const { scheduler, trace } = this.#world
    const who = this.#name
    this.#actor?.stopUntil(untilMs)
    trace.add({ kind: 'fault', atMs: scheduler.nowMs, who, call: 'process', stream: '', fault: 'stopped', untilMs })
    // Soon after it is resumed it must know the state of its claim.
    scheduler.at(untilMs + DOUBT_MS, () => this.#register.clashes())
  }

  #observe(happening: WorkerEvent): void {
    if (happening.kind !== 'outcome' || happening.outcome.kind === 'not-claimed') return
    const { job, kind } = happening.outcome
    this.#note(job, kind)
    if (happening.outcome.kind !== 'reported') return
    const { ending, result } = happening.outcome
    this.#register.reported({ stream: job.stream, event: job.event.id, owner: job.owner, op: ending.op, result })
  }

  async #work(job: Job, actor: Actor): Promise<WorkResult | undefined> {
    const { random } = actor
    this.#note(job, `attempt ${job.attempt}`)
    const leave = this.#register.begins(job, actor, this.#machine.rate ?? 1)
    try {
      await actor.pause(random.spread(...WORK_MS), job.signal)
      if (random.chance(0.2)) await job.progress('half')
      if (job.signal.aborted) throw new Error('stopped')
    } finally {
      leave()
    }
    if (random.chance(0.1)) throw new Error('boom')
    if (random.chance(0.05)) return { op: 'release' }
    const isUndoable = job.event.lc.undo !== undefined || job.event.name === 'U'
    if (isUndoable && random.chance(0.1)) return { op: 'fail', msg: '503', transient: true }
    const goesOn = job.event.name === 'A' || random.chance(0.4)
    if (goesOn && job.event.name !== 'J' && job.event.name !== 'U' && job.event.id.length <= DEEPEST) {
      return { op: 'advance', ...successors(random) }
    }
    return undefined
  }

  #note({ stream, event }: Job, what: string): void {
    const { scheduler, trace } = this.#world
    trace.add({ kind: 'job', atMs: scheduler.nowMs, who: this.#name, stream, event: event.id, what })
  }
}

function successors(random: Random) {
  const isFork = random.chance(0.3)
  // Nobody has to send the signal: the event goes on without it.
  if (!isFork && random.chance(0.3))
    return { next: { name: 'N', signal: 'go', timeout: '00:10:00', onDue: 'open' as const } }
  if (!isFork) return { next: { name: 'N', timeout: '00:10:00' } }
  return { forks: [{ name: 'B' }, { name: 'N', timeout: '00:05:00' }], join: { name: 'J' } }
}

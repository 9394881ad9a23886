import type { Random } from './random.ts'

/** The real one: tests that play with timers must not stop the world. */
const nextRound = setImmediate

/** What happens at an instant, unless it is called off. */
interface Task {
  readonly atMs: number
  /** Of tasks for the same instant the one that was asked for first. */
  readonly order: number
  run: (() => void) | undefined
}

/**
 * Virtual time: one task after the other, by instant and then in the order in which they were asked for. Before time goes
 * on, whatever a task woke up has come to rest: promises are followed to their end, and who looks how long
 * it has worked may let others have their turn by `setImmediate`.
 * What waits otherwise, as real timers do, does not belong into a simulation.
 */
export class Scheduler {
  #nowMs: number
  #asked = 0
  #steps = 0
  readonly #tasks: Task[] = []
  #fault: { readonly error: unknown } | undefined
  /** Somebody looked how long it has worked: then it may let others have their turn by an immediate of its own. */
  #isMeasured = false

  constructor(startMs: number) {
    this.#nowMs = startMs
  }

  /** The true time, epoch ms. Clocks show something near it. */
  get nowMs(): number {
    return this.#nowMs
  }

  /** How many tasks have run. */
  get steps(): number {
    return this.#steps
  }

  /** Returns a function that calls it off. */
  at(atMs: number, run: () => void): () => void {
    const task: Task = { atMs: Math.max(atMs, this.#nowMs), order: this.#asked++, run }
    push(this.#tasks, task)
    return () => {
      task.run = undefined
    }
  }

  /** Something went wrong that no actor expects: the run ends with it. */
  fail(error: unknown): void {
    this.#fault ??= { error }
  }

  /** Lets the world go on until that time. */
  async run(untilMs: number): Promise<void> {
    const realNow = performance.now
    // Code under test that measures how long it worked must not see how fast this machine is.
    performance.now = () => {
      this.#isMeasured = true
      return this.#nowMs
    }
    try {
      // What was begun before time was.
      await this.#rest()
      for (let next = this.#tasks[0]; next !== undefined && next.atMs <= untilMs; next = this.#tasks[0]) {
        pop(this.#tasks)
        if (next.run === undefined) continue
        this.#nowMs = next.atMs
        this.#steps += 1
        next.run()
        await this.#rest()
        if (this.#fault !== undefined) throw this.#fault.error
      }
      this.#nowMs = untilMs
    } finally {
      performance.now = realNow
    }
  }

  /** A round comes when no promise is left to be followed. Immediates asked for before it run before the end of another. */
  async #rest(): Promise<void> {
    for (let isMeasured = true; isMeasured; ) {
      await round()
      isMeasured = this.#isMeasured
      this.#isMeasured = false
    }
  }
}

function round(): Promise<void> {
  return new Promise(resolve => nextRound(resolve))
}

/** Somebody in the world: a process that can die, or stand still for a while. What the dead wait for never comes. */
export class Actor {
  readonly name: string
  readonly random: Random
  readonly scheduler: Scheduler
  #isAlive = true
  #stoppedUntilMs = Number.NEGATIVE_INFINITY

  constructor(scheduler: Scheduler, name: string, random: Random) {
    this.scheduler = scheduler
    this.name = name
    this.random = random.for(name)
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  die(): void {
    this.#isAlive = false
  }

  /** As SIGSTOP does: the world goes on, and what would have woken it up meanwhile does so, in order, when it goes on. */
  stopUntil(untilMs: number): void {
    this.#stoppedUntilMs = Math.max(this.#stoppedUntilMs, untilMs)
  }

  get isStopped(): boolean {
    return this.#stoppedUntilMs > this.scheduler.nowMs
  }

  /** When it went on, or will, after it was last stopped; `-Infinity` if it never was. */
  get stoppedUntilMs(): number {
    return this.#stoppedUntilMs
  }

  /** Begins something of its own; an error in it ends the run. */
  spawn(work: () => Promise<void>): void {
    work().catch(error => this.scheduler.fail(error))
  }

  /** Waits; resolves early when the signal aborts, and never once the actor is dead. */
  pause(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise(resolve => {
      const wake = () => {
        signal?.removeEventListener('abort', early)
        if (!this.#isAlive) return
        if (this.isStopped) this.scheduler.at(this.#stoppedUntilMs, wake)
        else resolve()
      }
      const early = () => {
        callOff()
        this.scheduler.at(this.scheduler.nowMs, wake)
      }
      const callOff = this.scheduler.at(this.scheduler.nowMs + Math.max(0, ms), wake)
      if (signal?.aborted) early()
      else signal?.addEventListener('abort', early)
    })
  }
}

function isBefore(a: Task, b: Task): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
}

/** The list is a binary heap: no task comes before the one at half its place. */
function push(tasks: Task[], task: Task): void {
  let at = tasks.push(task) - 1
  while (at > 0) {
    const above = (at - 1) >> 1
    const parent = tasks[above]
    if (parent === undefined || !isBefore(task, parent)) break
    tasks[at] = parent
    at = above
  }
  tasks[at] = task
}

function pop(tasks: Task[]): void {
  const last = tasks.pop()
  if (last === undefined || tasks.length === 0) return
  let at = 0
  for (;;) {
    const left = 2 * at + 1
    const [first, second] = [tasks[left], tasks[left + 1]]
    const [below, child] =
      second !== undefined && first !== undefined && isBefore(second, first) ? [left + 1, second] : [left, first]
    if (child === undefined || !isBefore(child, last)) break
    tasks[at] = child
    at = below
  }
  tasks[at] = last
}

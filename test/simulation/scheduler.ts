import type { Random } from './random.ts'

/** The real one: tests that mock timers must not stop the simulation. */
const nextRound = setImmediate

/** A task at an instant, unless it is canceled. */
interface Task {
  readonly atMs: number
  /** Of tasks for the same instant the one that was scheduled first. */
  readonly order: number
  run: (() => void) | undefined
}

/**
 * Virtual time: one task after the other, by instant and then in the order in which they were scheduled. Before time
 * advances, all reactions to a task are complete: promises are settled, and code that measures its own running
 * time may yield by `setImmediate`.
 * Other waits, such as real timers, must not occur in a simulation.
 */
export class Scheduler {
  #nowMs: number
  #asked = 0
  #steps = 0
  readonly #tasks: Task[] = []
  #fault: { readonly error: unknown } | undefined
  /** A running time was read: the code may then yield by an immediate of its own. */
  #isMeasured = false

  constructor(startMs: number) {
    this.#nowMs = startMs
  }

  /** The true time, epoch ms. Clocks differ from it. */
  get nowMs(): number {
    return this.#nowMs
  }

  /** The number of executed tasks. */
  get steps(): number {
    return this.#steps
  }

  /** Returns a function that cancels it. */
  at(atMs: number, run: () => void): () => void {
    const task: Task = { atMs: Math.max(atMs, this.#nowMs), order: this.#asked++, run }
    push(this.#tasks, task)
    return () => {
      task.run = undefined
    }
  }

  /** An error that no actor expects ends the run. */
  fail(error: unknown): void {
    this.#fault ??= { error }
  }

  /** Runs the simulation until that time. */
  async run(untilMs: number): Promise<void> {
    const realNow = performance.now
    // Code under test that measures its running time must not depend on the speed of this machine.
    performance.now = () => {
      this.#isMeasured = true
      return this.#nowMs
    }
    try {
      // Work that began before the time started.
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

  /** A round follows when all promises are settled. Immediates scheduled before it run before another ends. */
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

/** A process that can die, or be suspended for a while. A dead one is never resumed. */
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

  /** Like SIGSTOP: the simulation continues, and its due tasks run, in order, when it is resumed. */
  stopUntil(untilMs: number): void {
    this.#stoppedUntilMs = Math.max(this.#stoppedUntilMs, untilMs)
  }

  get isStopped(): boolean {
    return this.#stoppedUntilMs > this.scheduler.nowMs
  }

  /** When it was or will be resumed after the last suspension; `-Infinity` if it was never suspended. */
  get stoppedUntilMs(): number {
    return this.#stoppedUntilMs
  }

  /** Starts an independent task; an error in it ends the run. */
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

/** The list is a binary heap: no task is earlier than the one at half its index. */
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

import type { Connection } from './connection.ts'
import { isBusy } from './errors.ts'

/** A transaction takes no further work after so long: it holds this process up and other programs out. */
const GROUP_MS = 20

/** What is done in a write transaction. */
export type TransactionWork<T> = (connection: Connection) => T

/**
 * What can be done of it on a state that is only read, while another program writes: it may be called often. A result
 * needs no transaction any more.
 */
export type Prepare<T> = (connection: Connection) => { readonly result: T } | undefined

interface Waiting {
  readonly work: TransactionWork<unknown>
  readonly prepare: Prepare<unknown> | undefined
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/**
 * Writes of this process that are asked for at the same time, on whatever streams, share one transaction: one sync of
 * the disk for all of them. Each has its own result, told only after the COMMIT; where one throws, nothing of the
 * transaction is kept and each is done again alone.
 */
export class GroupCommit {
  readonly #connection: Connection
  readonly #lock: WriteLock
  #waiting: Waiting[] = []
  /** How long writes have held this process up since it last looked at anything else, ms. */
  #heldUpMs = 0

  constructor(connection: Connection, random: () => number) {
    this.#connection = connection
    this.#lock = new WriteLock(connection, random)
  }

  /** Some wait for their turn, which comes at once: who joins them needs no preparations of its own. */
  get areGathering(): boolean {
    return this.#waiting.length > 0
  }

  /** @throws what `work` throws, BUSY, and what `Connection.finish` throws */
  add<T>(work: TransactionWork<T>, prepare?: Prepare<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, prepare, resolve: result => resolve(result as T), reject })
      if (this.#waiting.length === 1) this.#schedule()
    })
  }

  #schedule(): void {
    const turn = () => this.#turn()
    // Those who stood back together come with the timers of one moment. And who asks again at each result would keep this
    // process from its timers, its sockets and its signals for as long as that goes on.
    if (this.#lock.isContended || this.#heldUpMs > GROUP_MS) setImmediate(turn)
    // Behind all that is already on its way through promises: who asks in the same turn comes along.
    else queueMicrotask(() => process.nextTick(turn))
  }

  /** Writes what waits, at once. */
  flush(): void {
    while (this.#waiting.length > 0) this.#writeGroup()
  }

  /** Nothing of what waits is written. */
  giveUp(why: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(why)
  }

  #turn(): void {
    if (this.#heldUpMs === 0) setImmediate(() => this.#lookUp())
    const startMs = performance.now()
    if (this.#waiting.length > 0) this.#writeGroup()
    this.#heldUpMs += performance.now() - startMs
    if (this.#waiting.length > 0) setImmediate(() => this.#turn())
  }

  #lookUp(): void {
    this.#heldUpMs = 0
  }

  #writeGroup(): void {
    const group: Waiting[] = []
    const seen = { culprit: false }
    try {
      this.#begin()
      if (this.#waiting.length === 0) return
      const results = this.#connection.finish(() => this.#workThrough(group, seen))
      for (const [at, { resolve }] of group.entries()) resolve(results[at])
    } catch (error) {
      // Not even begun: the file is locked or may not be written. Each knows how long it wants to wait.
      if (group.length === 0) group.push(...this.#waiting.splice(0))
      if (seen.culprit && group.length > 1) for (const one of group) this.#writeAlone(one)
      else for (const { reject } of group) reject(error)
    }
  }

  /** While another program writes, what is to be written is made ready; it has to wait anyway. */
  #begin(): void {
    if (!this.#lock.isContended && this.#lock.takeIfFree()) return
    this.#prepareAll()
    if (this.#waiting.length > 0) this.#lock.take()
  }

  #prepareAll(): void {
    const endMs = performance.now() + GROUP_MS
    const prepare = (one: Waiting): boolean => performance.now() > endMs || !this.#hasResult(one)
    try {
      this.#waiting = this.#connection.reading(() => this.#waiting.filter(prepare))
    } catch {
      // Then nothing is known before; the write tells why.
    }
  }

  /** Whether it needs no write any more. */
  #hasResult({ prepare, resolve, reject }: Waiting): boolean {
    try {
      const known = prepare?.(this.#connection)
      if (known !== undefined) resolve(known.result)
      return known !== undefined
    } catch (error) {
      if (isBusy(error)) return false
      reject(error)
      return true
    }
  }

  #workThrough(group: Waiting[], seen: { culprit: boolean }): readonly unknown[] {
    const results: unknown[] = []
    const endMs = performance.now() + GROUP_MS
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      group.push(next)
      seen.culprit = true
      results.push(next.work(this.#connection))
      seen.culprit = false
      if (performance.now() > endMs) break
    }
    return results
  }

  #writeAlone({ work, resolve, reject }: Waiting): void {
    try {
      this.#lock.take()
      resolve(this.#connection.finish(() => work(this.#connection)))
    } catch (error) {
      reject(error)
    }
  }
}

/** The thread is blocked for so long while it asks for the lock, ms; longer waits are asynchronous. */
const ASK_MS = 5
/** The mean pause between two questions, ms: a transaction of one change holds the lock for about so long. */
const EVERY_MS = 0.25
/** So long after others were met they are reckoned with, ms. */
const LATELY_MS = 500

/**
 * The lock under which one program at a time writes to a file. SQLite gives it to whoever asks first once it is free, so
 * those who want it ask often, at random intervals.
 */
class WriteLock {
  readonly #connection: Connection
  readonly #random: () => number
  #metAtMs = Number.NEGATIVE_INFINITY

  constructor(connection: Connection, random: () => number) {
    this.#connection = connection
    this.#random = random
  }

  /** Others had it lately: what can be done before it is taken is better done before. */
  get isContended(): boolean {
    return performance.now() - this.#metAtMs < LATELY_MS
  }

  /** Begins a write transaction unless another program is in one: then `false`, at once. */
  takeIfFree(): boolean {
    try {
      this.#connection.begin()
      return true
    } catch (error) {
      this.#met(error)
      return false
    }
  }

  /** Begins a write transaction; throws what the last try threw when the lock was not to be had in a few ms. */
  take(): void {
    const endMs = performance.now() + ASK_MS
    for (;;) {
      try {
        this.#connection.begin()
        return
      } catch (error) {
        this.#met(error)
        if (performance.now() >= endMs) throw error
      }
      block(EVERY_MS * (0.5 + this.#random()))
    }
  }

  #met(error: unknown): void {
    if (!isBusy(error)) throw error
    this.#metAtMs = performance.now()
  }
}

const NEVER_CHANGED = new Int32Array(new SharedArrayBuffer(4))

function block(ms: number): void {
  Atomics.wait(NEVER_CHANGED, 0, 0, ms)
}

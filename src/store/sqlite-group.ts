import type { Connection } from './sqlite-connection.ts'

/** A transaction takes no further work after so long: it holds this process up and other programs out. */
const GROUP_MS = 20

type Work<T> = (connection: Connection) => T

interface Waiting {
  readonly work: Work<unknown>
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/**
 * Writes of this process that are asked for at the same time, on whatever streams, share one transaction: one sync of
 * the disk for all of them. Each has its own result, told only after the COMMIT; where one throws, nothing of the
 * transaction is kept and each is done again alone.
 */
export class WriteGroups {
  readonly #connection: Connection
  #waiting: Waiting[] = []

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Some wait for their turn, which comes at once: who joins them needs no preparations of its own. */
  get areGathering(): boolean {
    return this.#waiting.length > 0
  }

  /** @throws what `work` throws, and what `Connection.transaction` throws */
  add<T>(work: Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, resolve: result => resolve(result as T), reject })
      // Behind all that is already on its way through promises: who asks in the same turn comes along.
      if (this.#waiting.length === 1) queueMicrotask(() => process.nextTick(() => this.#turn()))
    })
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
    if (this.#waiting.length > 0) this.#writeGroup()
    if (this.#waiting.length > 0) setImmediate(() => this.#turn())
  }

  #writeGroup(): void {
    const group: Waiting[] = []
    const seen = { culprit: false }
    try {
      const results = this.#connection.transaction(() => this.#workThrough(group, seen))
      for (const [at, { resolve }] of group.entries()) resolve(results[at])
    } catch (error) {
      // Not even begun: the file is locked or may not be written. Each knows how long it wants to wait.
      if (group.length === 0) group.push(...this.#waiting.splice(0))
      if (seen.culprit && group.length > 1) for (const one of group) this.#writeAlone(one)
      else for (const { reject } of group) reject(error)
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
      resolve(this.#connection.transaction(() => work(this.#connection)))
    } catch (error) {
      reject(error)
    }
  }
}

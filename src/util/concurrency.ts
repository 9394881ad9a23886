import { setImmediate as otherWork } from 'node:timers/promises'

/** After so long of work without a pause, signals, timers and files get their turn. */
const TURN_MS = 20

export interface BatchOptions {
  /** How many items are worked on at a time, from 1 on. */
  readonly concurrency: number
  /** Once aborted no further item is begun; what is in flight goes on to its end. */
  readonly stop?: AbortSignal
}

/**
 * Does the same to many items: begins them in their order, at most `concurrency` at a time.
 *
 * @returns how many were begun
 * @throws what `work` threw first, after everything in flight has ended; then nothing further is begun either
 */
export async function runBatch<Item>(
  items: readonly Item[],
  { concurrency, stop }: BatchOptions,
  work: (item: Item) => Promise<void>,
): Promise<number> {
  const queue = items.values()
  const turns = new Turns()
  let begun = 0
  let fault: { readonly error: unknown } | undefined
  const lane = async () => {
    while (fault === undefined && !stop?.aborted) {
      const next = queue.next()
      if (next.done) return
      begun += 1
      try {
        await work(next.value)
        await turns.pass()
      } catch (error) {
        fault ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, Math.min(concurrency, items.length)) }, lane))
  if (fault !== undefined) throw fault.error
  return begun
}

/** Work that goes on through promises alone keeps the event loop from everything else, Ctrl-C too. */
class Turns {
  #endsAtMs = performance.now() + TURN_MS
  #change: Promise<void> | undefined

  pass(): Promise<void> | undefined {
    if (this.#change === undefined && performance.now() < this.#endsAtMs) return undefined
    this.#change ??= otherWork().then(() => {
      this.#change = undefined
      this.#endsAtMs = performance.now() + TURN_MS
    })
    return this.#change
  }
}

/**
 * Reads items in their order, some of them at a time: while the consumer works on one, the next are on their way. What a
 * consumer that stops early no longer asks for is let go of.
 */
export async function* readAhead<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  atOnce: number,
  read: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const under: Promise<Result>[] = []
  for await (const item of items) {
    const result = read(item)
    // A fault is thrown where its turn comes; until then nobody listens, and Node would end the process.
    result.catch(() => {})
    under.push(result)
    if (under.length >= atOnce) yield await (under.shift() as Promise<Result>)
  }
  for (const result of under) yield await result
}

/** Timers take no more, ms. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** Waits; rejects with the signal's own reason once it aborts. A wait of 0 ms still lets other work go on. */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  await sleepUntilAborted(ms, signal)
  signal?.throwIfAborted()
}

/** Waits; resolves early once one of the signals aborts. A wait of 0 ms still lets other work go on. */
export function sleepUntilAborted(ms: number, ...signals: readonly (AbortSignal | undefined)[]): Promise<void> {
  if (signals.some(signal => signal?.aborted)) return Promise.resolve()
  // Not by timers/promises, which makes an error with a stack whenever it is aborted: workers do that with each event.
  return new Promise(resolve => {
    const end = () => {
      clearTimeout(timer)
      for (const signal of signals) signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, Math.min(Math.max(0, ms), MAX_TIMER_MS))
    for (const signal of signals) signal?.addEventListener('abort', end)
  })
}

/** Waits for the work, at most so long. */
export async function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  const done = new AbortController()
  try {
    await Promise.race([work, sleepUntilAborted(limitMs, done.signal)])
  } finally {
    done.abort()
  }
}

/** Places for what is under way; who finds none waits for his turn. */
export class Semaphore {
  readonly #waiting: { readonly places: number; readonly go: (has: boolean) => void }[] = []
  readonly #total: number
  #free: number
  #isClosed = false

  constructor(places: number) {
    this.#total = places
    this.#free = places
  }

  get isEmpty(): boolean {
    return this.#free === this.#total && this.#waiting.length === 0
  }

  /** Takes so many places, of too many all there are. False: it was closed meanwhile, and there are none. */
  async take(places = 1): Promise<boolean> {
    const wanted = Math.min(places, this.#total)
    if (this.#isClosed) return false
    if (this.#waiting.length === 0 && wanted <= this.#free) {
      this.#free -= wanted
      return true
    }
    return new Promise(go => this.#waiting.push({ places: wanted, go }))
  }

  /** Gives as many back as were taken. */
  leave(places = 1): void {
    this.#free += Math.min(places, this.#total)
    for (let next = this.#waiting[0]; next !== undefined && next.places <= this.#free; next = this.#waiting[0]) {
      this.#waiting.shift()
      this.#free -= next.places
      next.go(true)
    }
  }

  /** Nobody gets in any more. */
  close(): void {
    this.#isClosed = true
    for (const { go } of this.#waiting.splice(0)) go(false)
  }
}

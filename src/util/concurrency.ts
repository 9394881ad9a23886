import { setImmediate as otherWork } from 'node:timers/promises'

/** Maximum time of work before signals, timers and files get a turn, ms. */
const TURN_MS = 20

export interface BatchOptions {
  /** Number of items in work at a time, at least 1. */
  readonly concurrency: number
  /** Once aborted, no further item is started; items in flight run to their end. */
  readonly stop?: AbortSignal
}

/**
 * Runs `work` on many items: starts them in order, at most `concurrency` at a time.
 *
 * @returns the number of started items
 * @throws the first error of `work`, after all items in flight have ended; no further item is started then
 */
export async function runBatch<Item>(
  items: readonly Item[],
  { concurrency, stop }: BatchOptions,
  work: (item: Item) => Promise<void>,
): Promise<number> {
  const queue = items.values()
  const turns = new EventLoopTurns()
  let started = 0
  let fault: { readonly error: unknown } | undefined
  const lane = async () => {
    while (fault === undefined && !stop?.aborted) {
      const next = queue.next()
      if (next.done) return
      started += 1
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
  return started
}

/** Yields to the event loop: work that runs through promises alone blocks everything else, even Ctrl-C. */
class EventLoopTurns {
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
 * Reads items in order, several at a time: while the consumer handles one, the next are being read. If the consumer
 * stops early, their results are dropped.
 */
export async function* readAhead<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  atOnce: number,
  read: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const pending: Promise<Result>[] = []
  for await (const item of items) {
    const result = read(item)
    // A fault is thrown when its item is due; without a handler until then, Node would end the process.
    result.catch(() => {})
    pending.push(result)
    if (pending.length >= atOnce) yield await (pending.shift() as Promise<Result>)
  }
  for (const result of pending) yield await result
}

/** Maximum delay of a timer, ms. */
export const MAX_TIMER_MS = 2 ** 31 - 1

/** Waits; rejects with the signal's reason once it aborts. A wait of 0 ms still yields to other work. */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  await sleepUntilAborted(ms, signal)
  signal?.throwIfAborted()
}

/** Waits; resolves early once one of the signals aborts. A wait of 0 ms still yields to other work. */
export function sleepUntilAborted(ms: number, ...signals: readonly (AbortSignal | undefined)[]): Promise<void> {
  if (signals.some(signal => signal?.aborted)) return Promise.resolve()
  // `timers/promises` would create an error with a stack at each abort, and workers abort a wait with each event.
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

/** Reason of an abort that only ends waits. Without a reason each abort would create an error with a stack. */
export const NO_LONGER = new Error('the wait is over')

/** Waits for the work, up to a time limit. */
export async function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  const done = new AbortController()
  try {
    await Promise.race([work, sleepUntilAborted(limitMs, done.signal)])
  } finally {
    done.abort(NO_LONGER)
  }
}

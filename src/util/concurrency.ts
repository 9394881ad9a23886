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

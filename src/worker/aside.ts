import type { EventStore } from '../store/store.ts'

interface Target {
  readonly stream: string
  readonly event?: string
}

/** So many are left alone at a time, at most: beyond that the oldest are tried again early. */
const MOST_RESTING = 10_000

/** What a loop leaves alone in a store: events that it or another of this process is at, and those it lets rest for a while. */
export class Aside {
  readonly #busy: Set<string>
  readonly #resting = new Map<string, number>()

  constructor(store: EventStore) {
    this.#busy = BUSY.get(store) ?? new Set()
    BUSY.set(store, this.#busy)
  }

  begin(target: Target): void {
    this.#busy.add(keyOf(target))
  }

  end(target: Target): void {
    this.#busy.delete(keyOf(target))
  }

  isBusy(target: Target): boolean {
    return this.#busy.has(keyOf(target))
  }

  /** @param untilMs epoch ms by the store's clock */
  rest(target: Target, untilMs: number): void {
    const key = keyOf(target)
    this.#resting.delete(key)
    this.#resting.set(key, untilMs)
    if (this.#resting.size <= MOST_RESTING) return
    for (const oldest of this.#resting.keys()) {
      this.#resting.delete(oldest)
      return
    }
  }

  /** Epoch ms; `-Infinity` if it does not rest. */
  restsUntil(target: Target): number {
    return this.#resting.get(keyOf(target)) ?? Number.NEGATIVE_INFINITY
  }
}

/** No name of a stream has a line feed. */
function keyOf({ stream, event }: Target): string {
  return event === undefined ? stream : `${stream}\n${event}`
}

const BUSY = new WeakMap<EventStore, Set<string>>()

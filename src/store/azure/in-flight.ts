import { setImmediate as nextTurn } from 'node:timers/promises'
import { within } from '../../util/concurrency.ts'
import { storeClosed } from './requests.ts'

/**
 * What is under way and may write, remove, or hold a lease: a store that is closed lets it come to its end. Ended at once
 * it would have been applied and nobody told, and leases would stay behind.
 */
export class RunningChanges {
  readonly #running = new Set<Promise<unknown>>()
  #isEnding = false

  /** Begins a change and remembers it until it ends. Throws what it throws, and once all are to end that the store is closed. */
  run<Outcome>(change: () => Promise<Outcome>): Promise<Outcome> {
    return this.#isEnding ? Promise.reject(storeClosed()) : this.giveBack(change)
  }

  /** The same for what gives a lease back: it may begin as long as the others are waited for. */
  giveBack<Outcome>(release: () => Promise<Outcome>): Promise<Outcome> {
    const outcome = release()
    const over = () => this.#running.delete(ended)
    const ended: Promise<unknown> = outcome.then(over, over)
    this.#running.add(ended)
    return outcome
  }

  /** Begins no more of them, and waits for those that are under way. */
  async end(): Promise<void> {
    this.#isEnding = true
    while (this.#running.size > 0) {
      await Promise.all(this.#running)
      // Whoever acquired a lease hears of it, and may give it back.
      await nextTurn()
    }
  }
}

/** How long a store waits for what is its own, ms. */
export interface OwnWaits {
  /** A change for the release of the one before. */
  readonly releaseMs: number
  /** `close` for what is still under way. */
  readonly closeMs: number
}

export const OWN_WAITS: OwnWaits = { releaseMs: 1_000, closeMs: 2_000 }

/** Releases that go on after the result of their change was returned. They never fail: a lease also ends by itself. */
export class PendingReleases {
  readonly #limitMs: number
  readonly #pending = new Map<string, Promise<unknown>>()

  /** @param limitMs so long a change of the same stream waits for the release before it; then it takes its chance */
  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** Starts a release and remembers it until it ends. Resolves to its result, to `false` if it threw. */
  start(name: string, release: () => Promise<boolean>): Promise<boolean> {
    const released = release().catch(() => false)
    const before = this.#pending.get(name)
    const all = Promise.all([before, released]).then(() => {
      if (this.#pending.get(name) === all) this.#pending.delete(name)
    })
    this.#pending.set(name, all)
    return released
  }

  /**
   * Waits for this process's own release of the stream: an acquire before it would only be refused.
   *
   * @returns whether there was one to wait for
   */
  async settled(name: string): Promise<boolean> {
    const pending = this.#pending.get(name)
    if (pending !== undefined) await within(this.#limitMs, pending)
    return pending !== undefined
  }

  /** Waits for all. */
  async drain(): Promise<void> {
    await Promise.all(this.#pending.values())
  }
}

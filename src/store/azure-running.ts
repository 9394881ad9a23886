import { storeClosed } from './azure-calls.ts'

/** The changes under way, each of which may hold a lease: a store that is closed lets them come to their end. */
export class RunningChanges {
  readonly #running = new Set<Promise<unknown>>()
  #isEnding = false

  /** Begins a change and remembers it until it ends. Throws what it throws, and once all are to end that the store is closed. */
  run<Outcome>(change: () => Promise<Outcome>): Promise<Outcome> {
    if (this.#isEnding) return Promise.reject(storeClosed())
    const outcome = change()
    const over = () => this.#running.delete(ended)
    const ended: Promise<unknown> = outcome.then(over, over)
    this.#running.add(ended)
    return outcome
  }

  /** Begins no more of them, and waits for those that are under way. */
  async end(): Promise<void> {
    this.#isEnding = true
    await Promise.all(this.#running)
  }
}

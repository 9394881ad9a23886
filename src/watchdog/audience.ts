import type { Observer } from './report.ts'

/**
 * Those who want to know what a watchdog does, told in their order. One that throws keeps neither the others from hearing
 * nor the watchdog from going on: the others are told, once for each that does.
 */
export class Audience {
  readonly #observers: readonly Observer[]
  readonly #faulty = new Set<Observer>()

  constructor(observers: readonly Observer[]) {
    this.#observers = observers
  }

  async tell(what: (observer: Observer) => void | Promise<void>): Promise<void> {
    for (const observer of this.#observers) {
      try {
        await what(observer)
      } catch (error) {
        await this.#report(observer, error)
      }
    }
  }

  async #report(faulty: Observer, error: unknown): Promise<void> {
    if (this.#faulty.has(faulty)) return
    this.#faulty.add(faulty)
    await this.tell(observer => (observer === faulty ? undefined : observer.faulty?.(error)))
  }
}

import { StoreUnreachable } from '../../store/errors.ts'
import type { FailedPass, Observer } from '../../watchdog/report.ts'

/**
 * A watchdog whose first pass fails for lack of rights, or of a container, was set up wrongly: it ends at once and says so.
 * Once it has watched, nothing that is wrong with the store ends it; a store that does not answer never does.
 */
export class Refusal implements Observer {
  readonly #controller = new AbortController()
  #hasWatched = false
  #error: unknown

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** @throws why it could not begin, if so */
  throwIfAny(): void {
    if (this.signal.aborted) throw this.#error
  }

  passed(): void {
    this.#hasWatched = true
  }

  failed({ error }: FailedPass): void {
    if (this.#hasWatched || error instanceof StoreUnreachable) return
    this.#error = error
    this.#controller.abort()
  }
}

import type { PassReport } from '../report.ts'

/** So many documents that cannot be read are named. */
const MAX_NAMED = 20

/** Some of the documents that cannot be read, and why. */
export class FaultList {
  readonly #messages = new Map<string, string>()

  add(stream: string, message: string): void {
    this.#messages.delete(stream)
    if (this.#messages.size < MAX_NAMED) this.#messages.set(stream, message)
  }

  remove(stream: string): void {
    this.#messages.delete(stream)
  }

  /** Those that still are: who was put right is met by the sweep, without a look. */
  list(isStill: (stream: string) => boolean): PassReport['unreadable'] {
    for (const stream of this.#messages.keys()) if (!isStill(stream)) this.#messages.delete(stream)
    return [...this.#messages].map(([stream, message]) => ({ stream, message }))
  }
}

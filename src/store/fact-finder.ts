/**
 * Collects facts, part by part. A part that fails is recorded with the reason, and the others continue: an inspection is most
 * useful when something is broken.
 */
export class FactCollector<Facts extends object> {
  readonly facts: Partial<Facts> = {}
  /** Facts that could not be learned: name → reason. */
  readonly unknown: { [fact: string]: string } = {}
  readonly #signal: AbortSignal | undefined

  constructor(signal?: AbortSignal) {
    this.#signal = signal
  }

  /** @throws the signal's reason when it aborts; TypeError and ReferenceError, which are bugs */
  async learn(names: readonly (keyof Facts & string)[], query: () => Promise<Partial<Facts>>): Promise<void> {
    this.#signal?.throwIfAborted()
    try {
      Object.assign(this.facts, await query())
    } catch (error) {
      this.#signal?.throwIfAborted()
      if (!(error instanceof Error) || error instanceof TypeError || error instanceof ReferenceError) throw error
      for (const name of names) this.unknown[name] = error.message
    }
  }
}

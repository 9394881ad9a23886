/**
 * Collects facts, part by part. A part that cannot be learned is noted with the reason, and the others go on: what is
 * looked at is most worth knowing where something is wrong.
 */
export class FactCollector<Facts extends object> {
  readonly facts: Partial<Facts> = {}
  /** Names of facts that could not be learned, each with the reason. */
  readonly unknown: { [fact: string]: string } = {}
  readonly #signal: AbortSignal | undefined

  constructor(signal?: AbortSignal) {
    this.#signal = signal
  }

  /** @throws the signal's reason when it fires; bugs */
  async learn(names: readonly (keyof Facts & string)[], look: () => Promise<Partial<Facts>>): Promise<void> {
    this.#signal?.throwIfAborted()
    try {
      Object.assign(this.facts, await look())
    } catch (error) {
      this.#signal?.throwIfAborted()
      if (!(error instanceof Error) || error instanceof TypeError || error instanceof ReferenceError) throw error
      for (const name of names) this.unknown[name] = error.message
    }
  }
}

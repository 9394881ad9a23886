/** Streams by the time of their last write, to be asked from the latest on. Packed, as there may be very many. */
export class Candidates {
  #names: string[] = []
  #timesMs: number[] = []

  add(name: string, modifiedMs: number): void {
    this.#names.push(name)
    this.#timesMs.push(modifiedMs)
  }

  /** Takes them out, the latest first, as long as they were written at or after the time that is asked for each. */
  *latestFirst(floorMs: () => number): Generator<{ readonly name: string; readonly modifiedMs: number }> {
    const names = this.#names
    const timesMs = this.#timesMs
    this.#names = []
    this.#timesMs = []
    const order = Uint32Array.from(names, (_, at) => at).sort((a, b) => (timesMs[b] ?? 0) - (timesMs[a] ?? 0))
    for (const at of order) {
      const modifiedMs = timesMs[at] ?? 0
      if (modifiedMs < floorMs()) return
      yield { name: names[at] ?? '', modifiedMs }
    }
  }
}

/** What was told already; of very much the latest. */
export class Told {
  readonly #keys = new Set<string>()
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  /** False if it is there already; then it counts as told just now. */
  add(key: string): boolean {
    const isNew = !this.#keys.delete(key)
    this.#keys.add(key)
    if (this.#keys.size > this.#limit) this.#forgetOldest()
    return isNew
  }

  #forgetOldest(): void {
    for (const oldest of this.#keys) {
      this.#keys.delete(oldest)
      return
    }
  }
}

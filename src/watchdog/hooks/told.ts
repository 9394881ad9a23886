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

/** A delivery of a hook in short, 64 bits of its id: whether it was told already. */
export function toldKey(key: string, shortId: string): string {
  return `${key} ${shortId}`
}

/** Of `done-0123456789abcdef0123456789abcdef` the first half of the number. */
export function shortId(deliveryId: string): string {
  return deliveryId.slice(-32, -16)
}

/** A map that evicts its oldest entries. Setting a key again makes it the newest; getting it does not. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #limit: number
  readonly #weightOf: (value: Value) => number
  #weight = 0

  /**
   * @param limit the maximum total weight
   * @param weightOf the weight of a value; by default 1, so that `limit` is a number of entries
   */
  constructor(limit: number, weightOf: (value: Value) => number = () => 1) {
    super()
    this.#limit = limit
    this.#weightOf = weightOf
  }

  override set(key: Key, value: Value): this {
    this.delete(key)
    super.set(key, value)
    this.#weight += this.#weightOf(value)
    while (this.#weight > this.#limit) this.#forgetOldest()
    return this
  }

  override delete(key: Key): boolean {
    const value = this.get(key)
    const isDeleted = super.delete(key)
    if (isDeleted) this.#weight -= this.#weightOf(value as Value)
    return isDeleted
  }

  override clear(): void {
    super.clear()
    this.#weight = 0
  }

  #forgetOldest(): void {
    for (const oldest of this.keys()) {
      this.delete(oldest)
      return
    }
  }
}

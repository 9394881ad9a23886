/** Places for what is under way; who finds none waits for his turn. */
export class Room {
  readonly #waiting: { readonly places: number; readonly go: (has: boolean) => void }[] = []
  readonly #total: number
  #free: number
  #isClosed = false

  constructor(places: number) {
    this.#total = places
    this.#free = places
  }

  get isEmpty(): boolean {
    return this.#free === this.#total && this.#waiting.length === 0
  }

  /** Takes so many places, of too many all there are. False: it was closed meanwhile, and there are none. */
  async take(places = 1): Promise<boolean> {
    const wanted = Math.min(places, this.#total)
    if (this.#isClosed) return false
    if (this.#waiting.length === 0 && wanted <= this.#free) {
      this.#free -= wanted
      return true
    }
    return new Promise(go => this.#waiting.push({ places: wanted, go }))
  }

  /** Gives as many back as were taken. */
  leave(places = 1): void {
    this.#free += Math.min(places, this.#total)
    for (let next = this.#waiting[0]; next !== undefined && next.places <= this.#free; next = this.#waiting[0]) {
      this.#waiting.shift()
      this.#free -= next.places
      next.go(true)
    }
  }

  /** Nobody gets in any more. */
  close(): void {
    this.#isClosed = true
    for (const { go } of this.#waiting.splice(0)) go(false)
  }
}

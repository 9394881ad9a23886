import type { RoundHold, Rounds } from './rounds.ts'

/** Something that has to be done for hooks: one of the three ends it. */
export interface Hold {
  /** Something else that comes of it. */
  also(): Hold
  /** It is done. */
  release(): void
  /** Nobody here does it any more: how far hooks have come stays before it, so that whoever watches next finds it. */
  leave(): void
}

/** Counts what is to be done for hooks, and knows when all of it is. */
export class Holds {
  readonly #rounds: Rounds
  readonly #released: () => void
  readonly #idle = new Set<() => void>()
  #pending = 0
  #left = 0
  #isOver = false

  /** @param released called after each end of one */
  constructor(rounds: Rounds, released: () => void) {
    this.#rounds = rounds
    this.#released = released
  }

  get pending(): number {
    return this.#pending
  }

  get left(): number {
    return this.#left
  }

  take(): Hold {
    return this.#take(this.#rounds.hold())
  }

  /** Resolves when nothing is pending, or nobody is to wait any more. */
  async idle(): Promise<void> {
    if (this.#pending === 0 || this.#isOver) return
    await new Promise<void>(resolve => this.#idle.add(resolve))
  }

  /** Nobody is to wait any more. */
  end(): void {
    this.#isOver = true
    this.#wake()
  }

  #take(round: RoundHold): Hold {
    this.#pending += 1
    const over = (): void => {
      this.#pending -= 1
      if (this.#pending === 0) this.#wake()
    }
    return {
      also: () => this.#take(round.also()),
      release: () => {
        round.release()
        this.#released()
        over()
      },
      leave: () => {
        this.#left += 1
        over()
      },
    }
  }

  #wake(): void {
    for (const resolve of this.#idle) resolve()
    this.#idle.clear()
  }
}

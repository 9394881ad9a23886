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
export class PendingDeliveries {
  readonly #rounds: PassTracker
  readonly #released: () => void
  readonly #idle = new Set<() => void>()
  #pending = 0
  #left = 0
  #isOver = false

  /** @param released called after each end of one */
  constructor(rounds: PassTracker, released: () => void) {
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

/** A pass and what has to be delivered because of it. */
export interface Round {
  readonly isSweep: boolean
  /** By the store's clock, epoch ms. */
  readonly startedMs: number
}

interface Counted extends Round {
  pending: number
  /** `undefined` while it goes on; `false`: it came to no end, so the next sweep sees what it missed. */
  isWhole: boolean | undefined
}

/** Something that a round led to and that has not ended. One that is never released keeps the round from ever being done. */
interface RoundHold {
  /** Something else that came of it, for the same round. */
  also(): RoundHold
  /** It has ended; to be called once. */
  release(): void
}

/**
 * Up to when everything was delivered: the start of the last sweep that came to its end, as soon as all deliveries that
 * it and the passes before it led to have ended. What happened before a sweep began is found by it at the latest.
 */
export class PassTracker {
  readonly #rounds: Counted[] = []
  #doneMs: number | undefined

  /** `undefined` as long as no sweep is through. */
  get doneMs(): number | undefined {
    return this.#doneMs
  }

  /** Rounds that are remembered: not many more than have something pending. */
  get size(): number {
    return this.#rounds.length
  }

  begin(isSweep: boolean, startedMs: number): void {
    this.#forget()
    this.#rounds.push({ isSweep, startedMs, pending: 0, isWhole: undefined })
  }

  end(isWhole: boolean): void {
    const current = this.#rounds.at(-1)
    if (current !== undefined) current.isWhole ??= isWhole
    this.#settle()
  }

  /** Something has to be delivered because of the pass that goes on. */
  hold(): RoundHold {
    return this.#hold(this.#rounds.at(-1) ?? this.#between())
  }

  #hold(round: Counted): RoundHold {
    round.pending += 1
    return {
      also: () => this.#hold(round),
      release: () => {
        round.pending -= 1
        this.#settle()
      },
    }
  }

  /** What was found between two passes is to hold up those that follow. */
  #between(): Counted {
    const round = { isSweep: false, startedMs: 0, pending: 0, isWhole: true }
    this.#rounds.push(round)
    return round
  }

  #settle(): void {
    for (let first = this.#rounds[0]; first !== undefined && isOver(first); first = this.#rounds[0]) {
      this.#rounds.shift()
      if (first.isSweep && first.isWhole) this.#doneMs = first.startedMs
    }
  }

  /** Of two rounds that wait for an earlier one only, the later sweep is all that counts. */
  #forget(): void {
    const [before, last] = this.#rounds.slice(-2)
    if (before === undefined || last === undefined || !isOver(before) || !isOver(last)) return
    this.#rounds.splice(-2, 2, last.isSweep && last.isWhole ? last : before)
  }
}

function isOver({ isWhole, pending }: Counted): boolean {
  return isWhole !== undefined && pending === 0
}

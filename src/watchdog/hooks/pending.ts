/** A pending task for hooks; ended by exactly one of `release` and `leave`. */
export interface Hold {
  /** A further task of the same pass. */
  also(): Hold
  /** The task is done. */
  release(): void
  /** This watchdog abandons the task: the watermark stays before it, so that the next watchdog finds it. */
  leave(): void
}

/** Counts pending tasks for hooks and signals when all have ended. */
export class PendingDeliveries {
  readonly #rounds: PassTracker
  readonly #released: () => void
  readonly #idle = new Set<() => void>()
  #pending = 0
  #left = 0
  #isOver = false

  /** @param released called after each release */
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

  /** Resolves when no task is pending, or after `end`. */
  async idle(): Promise<void> {
    if (this.#pending === 0 || this.#isOver) return
    await new Promise<void>(resolve => this.#idle.add(resolve))
  }

  /** Ends all waits of `idle`. */
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

/** A pass and its deliveries. */
export interface Round {
  readonly isSweep: boolean
  /** By the store's clock, epoch ms. */
  readonly startedMs: number
}

interface Counted extends Round {
  pending: number
  /** `undefined` while the pass runs; `false`: it failed, so the next sweep finds what it missed. */
  isWhole: boolean | undefined
}

/** A pending task of a pass. A task that is never released keeps its pass from being done. */
interface RoundHold {
  /** A further task of the same pass. */
  also(): RoundHold
  /** Ends the task; to be called once. */
  release(): void
}

/**
 * Tracks up to when everything is delivered: the start of the last completed sweep once all deliveries of it and of
 * earlier passes have ended. Changes before the start of a sweep are found by that sweep at the latest.
 */
export class PassTracker {
  readonly #rounds: Counted[] = []
  #doneMs: number | undefined

  /** `undefined` until a sweep is completed and delivered. */
  get doneMs(): number | undefined {
    return this.#doneMs
  }

  /** Number of remembered passes: hardly more than those with pending tasks. */
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

  /** Adds a pending task to the current pass. */
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

  /** A task found between two passes must hold back the passes after it. */
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

  /** Of two finished passes that only wait for an earlier one, only the later sweep matters. */
  #forget(): void {
    const [before, last] = this.#rounds.slice(-2)
    if (before === undefined || last === undefined || !isOver(before) || !isOver(last)) return
    this.#rounds.splice(-2, 2, last.isSweep && last.isWhole ? last : before)
  }
}

function isOver({ isWhole, pending }: Counted): boolean {
  return isWhole !== undefined && pending === 0
}

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

/**
 * Up to when everything was delivered: the start of the last sweep that came to its end, as soon as all deliveries that
 * it and the passes before it led to have ended. What happened before a sweep began is found by it at the latest.
 */
export class Rounds {
  readonly #rounds: Counted[] = []
  #doneMs: number | undefined

  /** `undefined` as long as no sweep is through. */
  get doneMs(): number | undefined {
    return this.#doneMs
  }

  begin(isSweep: boolean, startedMs: number): void {
    this.#rounds.push({ isSweep, startedMs, pending: 0, isWhole: undefined })
  }

  end(isWhole: boolean): void {
    const current = this.#rounds.at(-1)
    if (current !== undefined) current.isWhole ??= isWhole
    this.#settle()
  }

  /** Something has to be delivered: call what is returned, once, when that has ended. */
  hold(): () => void {
    const round = this.#rounds.at(-1) ?? this.#between()
    round.pending += 1
    return () => {
      round.pending -= 1
      this.#settle()
    }
  }

  /** What was found between two passes is to hold up those that follow. */
  #between(): Counted {
    const round = { isSweep: false, startedMs: 0, pending: 0, isWhole: true }
    this.#rounds.push(round)
    return round
  }

  #settle(): void {
    for (let first = this.#rounds[0]; first?.isWhole !== undefined && first.pending === 0; first = this.#rounds[0]) {
      this.#rounds.shift()
      if (first.isSweep && first.isWhole) this.#doneMs = first.startedMs
    }
  }
}

import type { LoopReport, OwnEnd } from './types.ts'
import type { WorkOutcome } from './work-outcome.ts'

/** Counts what a loop does. */
export class Tally {
  readonly #counts = { claimed: 0, completed: 0, failed: 0, released: 0, lost: 0, racesLost: 0, givenUp: 0, faults: 0 }

  get counts(): Omit<LoopReport, 'locked'> {
    return { ...this.#counts }
  }

  fault(): void {
    this.#counts.faults += 1
  }

  gaveUp(): void {
    this.#counts.givenUp += 1
  }

  /** Claimed, and nobody knows what became of it. */
  threw(): void {
    this.#counts.claimed += 1
    this.#counts.lost += 1
  }

  /** @param ownEnd what the work did itself, where its end could not be reported */
  ended(outcome: WorkOutcome, ownEnd?: OwnEnd): void {
    const counts = this.#counts
    if (outcome.kind === 'not-claimed') {
      counts.racesLost += outcome.undone.kind === 'refused' ? 1 : 0
      return
    }
    counts.claimed += 1
    const op = outcome.kind === 'reported' ? outcome.ending.op : ownEnd?.op
    if (op === undefined) counts.lost += 1
    else if (op === 'fail') counts.failed += 1
    else if (op === 'release') counts.released += 1
    else counts.completed += 1
  }
}

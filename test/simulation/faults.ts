import type { Random } from './random.ts'

/** How often what goes wrong, each a probability of one call. */
export interface FaultRates {
  /** The store is not reached; nothing has happened. */
  readonly requestLost: number
  /** A write is applied, its answer lost; the driver finds out by reading. */
  readonly answerLost: number
  /** No read tells what became of a write: applied, never applied, or applied after the caller has given up. */
  readonly unknown: number
}

export const NO_FAULTS: FaultRates = { requestLost: 0, answerLost: 0, unknown: 0 }

export type Fate = 'none' | 'answer-lost' | 'unknown-applied' | 'unknown-lost' | 'unknown-late'

/** What becomes of a write that reaches the store. */
export function fateOf(random: Random, { answerLost, unknown }: FaultRates): Fate {
  const draw = random.fraction()
  if (draw < answerLost) return 'answer-lost'
  if (draw >= answerLost + unknown) return 'none'
  return random.pick(['unknown-applied', 'unknown-lost', 'unknown-late'])
}

export interface Outage {
  readonly fromMs: number
  readonly toMs: number
  /** Whom it keeps from the store; `*`: all. */
  readonly who: string
}

/** When the store is away, for whom. */
export class Weather {
  readonly outages: readonly Outage[]

  constructor(outages: readonly Outage[]) {
    this.outages = outages
  }

  isDown(who: string, atMs: number): boolean {
    return this.outages.some(
      ({ fromMs, toMs, who: whom }) => (whom === '*' || whom === who) && fromMs <= atMs && atMs < toMs,
    )
  }
}

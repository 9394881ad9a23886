import type { Random } from './random.ts'

/** The rates of faults, each a probability per call. */
export interface FaultRates {
  /** The store is unreachable; nothing has happened. */
  readonly requestLost: number
  /** A write is applied, its answer lost; the driver resolves it by reading. */
  readonly answerLost: number
  /** No read resolves a write: applied, never applied, or applied after the caller has stopped waiting. */
  readonly unknown: number
}

export const NO_FAULTS: FaultRates = { requestLost: 0, answerLost: 0, unknown: 0 }

export type Fate = 'none' | 'answer-lost' | 'unknown-applied' | 'unknown-lost' | 'unknown-late'

/** The fate of a write that reaches the store. */
export function fateOf(random: Random, { answerLost, unknown }: FaultRates): Fate {
  const draw = random.fraction()
  if (draw < answerLost) return 'answer-lost'
  if (draw >= answerLost + unknown) return 'none'
  return random.pick(['unknown-applied', 'unknown-lost', 'unknown-late'])
}

export interface Outage {
  readonly fromMs: number
  readonly toMs: number
  /** The actor that cannot reach the store; `*`: all. */
  readonly who: string
}

/** The times at which the store is unreachable, and for which actors. */
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

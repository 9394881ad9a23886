import { seededRandom } from '../../support/faults.ts'

/** In each stream the event in progress, its claim's owner and fence, and the length of a claim, ms. */
export const EVENT = '01.00'
export const OWNER = 'worker'
export const FENCE = 2
export const CLAIM_MS = 60_000

/** The plan for the events of a play, drawn from one seed. Times in ms. */
export interface LivesSetting {
  readonly seed: number
  readonly streams: number
  /** The number of them whose heartbeats stop, at a moment of `silenceWithinMs`. */
  readonly silenced: number
  readonly silenceWithinMs: number
  /** The number of the others with late heartbeats: shortly before their deadline. */
  readonly dawdlers: number
  /** The long one is for those whose heartbeats neither stop nor are late. */
  readonly timeouts: { readonly shortMs: number; readonly longMs: number }
}

/** The plan for one event, of one stream. */
export interface Life {
  readonly stream: string
  readonly kind: 'lively' | 'dawdler' | 'silenced'
  readonly timeoutMs: number
  /** No heartbeat is sent from then on, counted from the first moment of the play; `null` for never. */
  readonly silentAfterMs: number | null
  /** From one heartbeat to the next: a random time between these two shares of the timeout. */
  readonly beat: readonly [least: number, most: number]
}

/** The observed heartbeats of one event. Times as in the document, epoch ms. */
export interface Signs {
  readonly stream: string
  /** The last acknowledged one, and their number. */
  readonly lastMs: number
  readonly count: number
  /** The latest time at which the last one without an answer may have been written. */
  readonly doubtfulMs: number | null
  /** The reason why the last one was refused. */
  readonly refused: string | null
}

/** At least three heartbeats are sent per timeout. */
const STEADY = [0.2, 0.32] as const
const LATE = [0.6, 0.92] as const

export function livesOf(setting: LivesSetting): readonly Life[] {
  const { seed, streams, silenced, silenceWithinMs, dawdlers, timeouts } = setting
  const random = seededRandom(seed)
  return shuffled(streams, random).map((at, rank): Life => {
    const kind = rank < silenced ? 'silenced' : rank < silenced + dawdlers ? 'dawdler' : 'lively'
    return {
      stream: `orders/${at}`,
      kind,
      timeoutMs: kind === 'lively' ? timeouts.longMs : timeouts.shortMs,
      silentAfterMs: kind === 'silenced' ? Math.round(random() * silenceWithinMs) : null,
      beat: kind === 'dawdler' ? LATE : STEADY,
    }
  })
}

function shuffled(count: number, random: () => number): number[] {
  const ranked = Array.from({ length: count }, (_, at) => ({ at, rank: random() }))
  return ranked.sort((a, b) => a.rank - b.rank).map(({ at }) => at)
}

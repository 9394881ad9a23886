import { seededRandom } from '../../support/faults.ts'

/** In each stream the event that is worked on, its claim's owner and fence, and how long a claim runs, ms. */
export const EVENT = '01.00'
export const OWNER = 'worker'
export const FENCE = 2
export const CLAIM_MS = 60_000

/** How the events of a play live, drawn from one seed. Times in ms. */
export interface LivesSetting {
  readonly seed: number
  readonly streams: number
  /** So many of them fall silent, at a moment of `silenceWithinMs`. */
  readonly silenced: number
  readonly silenceWithinMs: number
  /** So many of the others show life late: shortly before their limit ends. */
  readonly dawdlers: number
  /** The long one is that of those that neither fall silent nor are late. */
  readonly timeouts: { readonly shortMs: number; readonly longMs: number }
}

/** The life of one event, of one stream. */
export interface Life {
  readonly stream: string
  readonly kind: 'lively' | 'dawdler' | 'silenced'
  readonly timeoutMs: number
  /** No sign of life is sent from then on, counted from the first moment of the play; `null` for never. */
  readonly silentAfterMs: number | null
  /** From one sign of life to the next: by chance between these two shares of the timeout. */
  readonly beat: readonly [least: number, most: number]
}

/** What was seen of the signs of life of one event. Times as the document has them, epoch ms. */
export interface Signs {
  readonly stream: string
  /** The last one that was acknowledged, and how many there were. */
  readonly lastMs: number
  readonly count: number
  /** When the last one without an answer may have been written at the latest. */
  readonly doubtfulMs: number | null
  /** Why the last one was not taken. */
  readonly refused: string | null
}

/** A heartbeat comes at least three times within its limit. */
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

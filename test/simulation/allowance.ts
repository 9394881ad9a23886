import type { Happening } from './happenings.ts'

/** How a watchdog of a run looks. */
export interface DogSettings {
  readonly name: string
  /** Between two sweeps, in true ms: as its own clock runs, with what chance adds. */
  readonly intervalMs: number
  /** The least that two looks of it have to be apart, in true ms. */
  readonly apartMs: number
  /** How much of its time its clock does not show: so much later it comes to a stream whose limit ends between sweeps. */
  readonly slowness: number
}

interface Stretch {
  readonly fromMs: number
  readonly toMs: number
  /** The watchdog lived, and knows that it saw nothing. */
  readonly isBlind: boolean
}

/** A worker's silence: since when, and how long it may last. */
export interface Silence {
  readonly lifeMs: number
  readonly timeoutMs: number
}

/** A lease by hand may last that long, ms; and what calls, waits and timers add. */
const LEASE_MS = 60_000
const SLACK_MS = 2_000

/** When an expiry may last be expected, given what the store and the watchdogs went through. */
export class Allowance {
  readonly #dogs: readonly { readonly dog: DogSettings; readonly troubles: readonly Stretch[] }[]
  readonly #extraMs: number

  /** @param extraMs how far clocks may differ */
  constructor(happenings: readonly Happening[], dogs: readonly DogSettings[], extraMs: number, endMs: number) {
    this.#dogs = dogs.map(dog => ({ dog, troubles: troublesOf(dog.name, happenings, endMs) }))
    this.#extraMs = extraMs
  }

  /**
   * The first watchdog that could work undisturbed for as long as it takes has to have ended it: two looks an interval
   * apart, and the change. One that was dead, cut off or had an answer lost begins anew, at its next sweep. Of a limit
   * that was written no longer than an interval before its end, or after it, only a sweep tells.
   * A worker that could show no life for more than a third of its limit gets a third to do so.
   * @param sinceMs when the event came under it
   */
  deadlineMs(dueMs: number, sinceMs: number, silence: Silence | undefined): number {
    const deadlines = this.#dogs.map(({ dog, troubles }) => {
      return this.#deadlineOf(Math.max(dueMs, sinceMs + dog.intervalMs), silence, dog, troubles)
    })
    return Math.min(...deadlines)
  }

  #deadlineOf(
    dueMs: number,
    silence: Silence | undefined,
    { intervalMs, slowness }: DogSettings,
    troubles: readonly Stretch[],
  ): number {
    const needMs = intervalMs * (1 + slowness) + LEASE_MS + SLACK_MS + this.#extraMs
    const graceMs = (silence?.timeoutMs ?? 0) / 3
    let fromMs = dueMs
    // In order of their beginnings; one that is over for an interval troubles nobody.
    for (let at = firstAfter(troubles, dueMs - intervalMs); at < troubles.length; at++) {
      const trouble = troubles[at]
      if (trouble === undefined || trouble.fromMs > fromMs + needMs) break
      // Seen again at the next sweep, and last at the one before.
      const [unseenMs, seenMs] = [trouble.toMs - trouble.fromMs + 2 * intervalMs, trouble.toMs + intervalMs]
      const isGiven = trouble.isBlind && unseenMs > graceMs && (silence?.lifeMs ?? Number.POSITIVE_INFINITY) < seenMs
      if (isGiven) fromMs = Math.max(fromMs, seenMs + graceMs)
      if (trouble.toMs > fromMs - intervalMs) fromMs = Math.max(fromMs, seenMs)
    }
    return fromMs + needMs
  }
}

/** Longest troubles begin at most so long before. */
const LONGEST_MS = 4 * 86_400_000

function firstAfter(troubles: readonly Stretch[], atMs: number): number {
  let [low, high] = [0, troubles.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((troubles[middle]?.fromMs ?? 0) < atMs - LONGEST_MS) low = middle + 1
    else high = middle
  }
  return low
}

/** All that kept one watchdog from its work. */
function troublesOf(name: string, happenings: readonly Happening[], endMs: number): Stretch[] {
  const stretches: Stretch[] = []
  let downMs: number | undefined
  for (const happening of happenings) {
    const { atMs, who, kind } = happening
    if (kind === 'outage' && (who === name || who === '*'))
      stretches.push({ fromMs: atMs, toMs: happening.untilMs, isBlind: true })
    if (who !== name) continue
    if (kind === 'fault') stretches.push({ fromMs: atMs, toMs: happening.untilMs, isBlind: true })
    if (kind === 'down') downMs = atMs
    if (kind !== 'up') continue
    // Until its first sweep it knows nothing.
    stretches.push({ fromMs: downMs ?? Number.NEGATIVE_INFINITY, toMs: atMs, isBlind: false })
    downMs = undefined
  }
  if (downMs !== undefined) stretches.push({ fromMs: downMs, toMs: endMs, isBlind: false })
  return stretches.sort((a, b) => a.fromMs - b.fromMs)
}

import type { Happening } from './happenings.ts'

/** The inspections of a watchdog in a run. */
export interface DogSettings {
  readonly name: string
  /** The interval between two sweeps, in true ms: with the rate of its own clock and the jitter. */
  readonly intervalMs: number
  /** The minimum time between two of its observations, in true ms. */
  readonly apartMs: number
  /** The delay of its clock: it inspects a stream whose deadline passes between sweeps this much later. */
  readonly slowness: number
}

interface Stretch {
  readonly fromMs: number
  readonly toMs: number
  /** The watchdog was alive, and knows that it had an observation gap. */
  readonly isBlind: boolean
}

/** A time without a heartbeat of a worker: its start, and its allowed length. */
export interface Silence {
  readonly lifeMs: number
  readonly timeoutMs: number
}

/** The maximum length of an explicit lease, ms; and the time that calls, waits and timers add. */
const LEASE_MS = 60_000
const SLACK_MS = 2_000

/** The latest expected time of an expiry, given the faults of the store and the watchdogs. */
export class Allowance {
  readonly #dogs: readonly { readonly dog: DogSettings; readonly troubles: readonly Stretch[] }[]
  readonly #extraMs: number

  /** @param extraMs the maximum difference of clocks */
  constructor(happenings: readonly Happening[], dogs: readonly DogSettings[], extraMs: number, endMs: number) {
    this.#dogs = dogs.map(dog => ({ dog, troubles: troublesOf(dog.name, happenings, endMs) }))
    this.#extraMs = extraMs
  }

  /**
   * The first watchdog that could work undisturbed for the necessary time has to have ended it: two observations an
   * interval apart, and the change. One that was dead, cut off or had a lost answer starts again, at its next sweep. A
   * deadline that was written no longer than an interval before it passes, or after it, is only found by a sweep.
   * A worker that could send no heartbeat for more than a third of its timeout gets a third to do so.
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
    // In order of their beginnings; one that ended an interval ago has no effect.
    for (let at = firstAfter(troubles, dueMs - intervalMs); at < troubles.length; at++) {
      const trouble = troubles[at]
      if (trouble === undefined || trouble.fromMs > fromMs + needMs) break
      // Observed again at the next sweep, and last at the one before.
      const [unseenMs, seenMs] = [trouble.toMs - trouble.fromMs + 2 * intervalMs, trouble.toMs + intervalMs]
      const isGiven = trouble.isBlind && unseenMs > graceMs && (silence?.lifeMs ?? Number.POSITIVE_INFINITY) < seenMs
      if (isGiven) fromMs = Math.max(fromMs, seenMs + graceMs)
      if (trouble.toMs > fromMs - intervalMs) fromMs = Math.max(fromMs, seenMs)
    }
    return fromMs + needMs
  }
}

/** The longest faults begin at most this much earlier. */
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

/** All faults that prevented a watchdog from working. */
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
    // Before its first sweep it has no observations.
    stretches.push({ fromMs: downMs ?? Number.NEGATIVE_INFINITY, toMs: atMs, isBlind: false })
    downMs = undefined
  }
  if (downMs !== undefined) stretches.push({ fromMs: downMs, toMs: endMs, isBlind: false })
  return stretches.sort((a, b) => a.fromMs - b.fromMs)
}

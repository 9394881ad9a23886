import type { DogSettings } from './allowance.ts'
import type { Happening } from './happenings.ts'

/** A watchdog may treat an outage as long from twice its interval on, or a little later, ms. */
const SLACK_MS = 10_000

/** The start of each watchdog's observations: its own start, or the end of a long outage. */
export class WatchTimes {
  readonly #dogs: readonly DogSettings[]
  readonly #sinceMs = new Map<string, number[]>()

  constructor(dogs: readonly DogSettings[]) {
    this.#dogs = dogs
  }

  see(happening: Happening): void {
    if (happening.kind === 'up') this.#add(happening.who, happening.atMs)
    if (happening.kind !== 'outage') return
    const { atMs, who, untilMs } = happening
    for (const { name, apartMs } of this.#dogs) {
      if ((who === '*' || who === name) && untilMs - atMs > 2 * apartMs + SLACK_MS) this.#add(name, untilMs)
    }
  }

  /** The observation time so far, if that is too short for two separate observations. */
  tooShortMs(name: string, atMs: number): number | undefined {
    const dog = this.#dogs.find(dog => dog.name === name)
    const since = this.#sinceMs.get(name)?.filter(ms => ms <= atMs) ?? []
    if (dog === undefined || since.length === 0) return undefined
    const seenMs = atMs - Math.max(...since)
    return seenMs < Math.floor(dog.apartMs) ? seenMs : undefined
  }

  #add(dog: string, sinceMs: number): void {
    this.#sinceMs.set(dog, [...(this.#sinceMs.get(dog) ?? []), sinceMs])
  }
}

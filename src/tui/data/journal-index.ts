import type { SeenTransaction } from '../../ops/read-stream.ts'

type Journal = readonly SeenTransaction[]

/**
 * Which transactions tell of which event. A journal only grows, so the states of a stream share one index, and only what is
 * new is looked at; each state sees as much of it as its own journal has.
 */
export class JournalIndex {
  readonly #places = new Map<string, number[]>()
  #seen = 0
  #last: SeenTransaction | undefined

  /** The index of this journal: the one before it where the journal goes on from there. */
  static of(journal: Journal, before = new JournalIndex()): JournalIndex {
    const index = before.#isBeginningOf(journal) ? before : new JournalIndex()
    index.#add(journal)
    return index
  }

  /** What tells of an event in this journal or an earlier state of it, oldest first. */
  transactionsOf(id: string, journal: Journal): Journal {
    const places = this.#places.get(id) ?? []
    const found = places.flatMap(at => journal[at] ?? [])
    const last = journal.at(-1)
    return last?.provisional && isAbout(last, id) ? [...found, last] : found
  }

  #isBeginningOf(journal: Journal): boolean {
    const same = journal[this.#seen - 1]
    return this.#seen === 0 || (same?.version === this.#last?.version && same?.commandId === this.#last?.commandId)
  }

  /** What nobody has recorded yet has no place: others come to stand there. */
  #add(journal: Journal): void {
    for (; this.#seen < journal.length; this.#seen++) {
      const tx = journal[this.#seen]
      if (tx === undefined || tx.provisional) return
      this.#last = tx
      for (const id of new Set([tx.on, ...tx.changes.map(({ event }) => event)])) this.#put(id, this.#seen)
    }
  }

  #put(id: string, place: number): void {
    const places = this.#places.get(id)
    if (places === undefined) this.#places.set(id, [place])
    else places.push(place)
  }
}

function isAbout({ on, changes }: SeenTransaction, id: string): boolean {
  return on === id || changes.some(({ event }) => event === id)
}

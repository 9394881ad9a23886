import type { Roll } from './registry/registry.ts'
import type { PassReport, Upcoming } from './report.ts'

/** What the streams of a roll add up to. */
export type Survey = Pick<PassReport, 'streams' | 'total' | 'watched' | 'openEvents' | 'overdue' | 'next'>

/** So many of the soonest limits are told. */
const MAX_NEXT = 20

/** Counts all streams that are kept. @param owns streams of others are counted in `total` alone */
export function surveyOf(roll: Roll, nowMs: number, owns: (name: string) => boolean): Survey {
  const statuses = new Map<string, number>()
  const soonest = new Soonest()
  let watched = 0
  let openEvents = 0
  let overdue = 0
  roll.visit((name, status, open, dueMs) => {
    if (!owns(name)) return
    watched += 1
    openEvents += open
    if (dueMs <= nowMs) overdue += 1
    if (status !== '') statuses.set(status, (statuses.get(status) ?? 0) + 1)
    soonest.see(name, dueMs)
  })
  // Built in one go: statuses are texts of strangers, also `__proto__`.
  const streams = Object.fromEntries(statuses)
  return { streams, total: roll.size, watched, openEvents, overdue, next: soonest.sorted() }
}

/** Keeps the soonest of very many. */
class Soonest {
  #kept: Upcoming[] = []
  #latestMs = Number.POSITIVE_INFINITY

  see(stream: string, dueMs: number): void {
    if (dueMs >= this.#latestMs) return
    this.#kept.push({ stream, dueMs })
    if (this.#kept.length >= 2 * MAX_NEXT) this.#shorten()
  }

  sorted(): readonly Upcoming[] {
    this.#shorten()
    return this.#kept
  }

  #shorten(): void {
    this.#kept = this.#kept.sort((a, b) => a.dueMs - b.dueMs).slice(0, MAX_NEXT)
    if (this.#kept.length === MAX_NEXT) this.#latestMs = this.#kept.at(-1)?.dueMs ?? this.#latestMs
  }
}

import { runningClaims } from '../../ops/open-events.ts'
import { isFinal } from '../../stream/event.ts'
import type { Summary } from '../../stream/summary.ts'
import { BoundedMap } from '../../util/bounded-map.ts'
import { type ActivityRate, emptyRate, rateNow, withChanges } from './activity-rate.ts'
import { RATE_SLOTS } from './types.ts'

/** What a worker has ended lately. Immutable. */
export interface WorkerRate {
  readonly done: ActivityRate
  readonly failed: ActivityRate
  /** The last stream in which it ended an event, that event if known, and when. */
  readonly stream: string
  readonly event: string | undefined
  readonly atMs: number
}

/** Workers remembered at most; the one that ended nothing for the longest time is forgotten. */
const MAX_WORKERS = 2_000
/** Slots that make up about a minute. */
const MINUTE_SLOTS = 60_000 / RATE_SLOTS.slotMs

/**
 * What workers end, from successive summaries of streams: no document is read. A claim that is gone while more events have
 * ended was ended by its owner. Work that began and ended between two looks counts for the last writer.
 */
export class WorkerRates {
  readonly #rates = new BoundedMap<string, WorkerRate>(MAX_WORKERS)

  constructor(from?: WorkerRates) {
    if (from !== undefined) for (const [owner, rate] of from.entries()) this.#rates.set(owner, rate)
  }

  get(owner: string): WorkerRate | undefined {
    return this.#rates.get(owner)
  }

  entries(): Iterable<[string, WorkerRate]> {
    return this.#rates.entries()
  }

  /** Takes two successive summaries of a stream. */
  add(stream: string, before: Summary | undefined, after: Summary | undefined, nowMs: number): void {
    if (before === undefined || after === undefined || before.born !== after.born) return
    if (before.version === after.version || (before.running.length === 0 && after.done <= before.done)) return
    const left = { done: doneBetween(before, after), failed: Math.max(0, after.failed - before.failed) }
    const claimed = new Set(runningClaims(after).map(({ id, attempt }) => `${id} ${attempt}`))
    for (const { id, attempt, owner } of runningClaims(before)) {
      if (claimed.has(`${id} ${attempt}`)) continue
      const kind = left.failed > 0 && (id === after.failedId || left.done === 0) ? 'failed' : 'done'
      if (left[kind] === 0) continue
      left[kind]--
      this.#count(owner, { [kind]: 1 }, { stream, event: id, atMs: nowMs })
    }
    if (left.done > 0 || (left.failed > 0 && this.#rates.has(after.lastBy)))
      this.#count(after.lastBy, left, { stream, event: undefined, atMs: nowMs })
  }

  #count(
    owner: string,
    { done = 0, failed = 0 }: { readonly done?: number; readonly failed?: number },
    last: Pick<WorkerRate, 'stream' | 'event' | 'atMs'>,
  ): void {
    if (owner === '') return
    const { atMs } = last
    const before = this.#rates.get(owner)
    this.#rates.set(owner, {
      ...last,
      done: withChanges(before?.done ?? emptyRate(atMs), done, atMs),
      failed: withChanges(before?.failed ?? emptyRate(atMs), failed, atMs),
    })
  }
}

/** The end of the root is nobody's work. */
function doneBetween(before: Summary, after: Summary): number {
  const root = after.status === 'completed' && !isFinal(before) ? 1 : 0
  return Math.max(0, after.done - before.done - root)
}

/** Number of events ended in the last minute. */
export function inLastMinute(rate: ActivityRate | undefined, nowMs: number): number {
  if (rate === undefined) return 0
  return rateNow(rate, nowMs)
    .slice(-MINUTE_SLOTS)
    .reduce((sum, count) => sum + count, 0)
}

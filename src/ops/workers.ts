import type { RunningEvent } from '../stream/summary-items.ts'
import { type OpenEventFilter, openEvents, passesEvent } from './open-events.ts'
import { type AddingUp, addEvent, keyIn, type Load, NO_LOAD, type StepLoad, StepWorkTally } from './steps.ts'
import type { SummarizedStream } from './summaries.ts'

export interface WorkerLoad extends Load {
  /** `''` for workers that make no claims, `undefined` for all workers beyond the limit. */
  readonly owner: string | undefined
}

/** An event that a worker has claimed. */
export interface ClaimedEvent {
  readonly stream: string
  readonly claim: RunningEvent
}

/**
 * Adds up the ready, running and abandoned events of streams by worker and by step. Those that a summary only counts are
 * events of an unknown step, whatever the filter: with one, give it whole summaries.
 */
export class WorkerTally {
  readonly #workers = new Map<string | undefined, AddingUp<WorkerLoad>>()
  readonly #steps = new StepWorkTally()
  readonly #events: ClaimedEvent[] = []
  readonly #filter: OpenEventFilter
  readonly keepsEvents: boolean
  streams = 0
  unreadable = 0

  /** @param filter only events that pass it are counted */
  constructor(filter: OpenEventFilter, { keepsEvents }: { readonly keepsEvents: boolean }) {
    this.#filter = filter
    this.keepsEvents = keepsEvents
  }

  add({ listed, summary, fault }: SummarizedStream, nowMs: number): void {
    this.streams++
    if (fault !== undefined) this.unreadable++
    if (summary === undefined) return
    if (summary.ready.length === 0 && summary.running.length === 0) return
    const events = openEvents(summary, nowMs).filter(
      event => event.state !== 'held' && event.state !== 'suspended' && passesEvent(event, this.#filter),
    )
    this.#steps.add(events, summary.readySinceMs)
    this.#steps.addCut(summary)
    const owners = new Set<string | undefined>()
    for (const event of events) {
      if (event.claim === undefined) continue
      const owner = keyIn(this.#workers, event.claim.owner)
      const load = this.#workers.get(owner) ?? { owner, ...NO_LOAD }
      this.#workers.set(owner, load)
      addEvent(load, event, !owners.has(owner))
      owners.add(owner)
      if (this.keepsEvents) this.#events.push({ stream: listed.name, claim: event.claim })
    }
  }

  /** Workers with abandoned events first, the one with the latest sign of life last. */
  workers(): WorkerLoad[] {
    return [...this.#workers.values()].sort(
      (a, b) => Number(b.abandoned > 0) - Number(a.abandoned > 0) || byTime(a.lastSeenMs, b.lastSeenMs),
    )
  }

  steps(): StepLoad[] {
    return this.#steps.byName()
  }

  /** The earliest claim first. */
  events(): ClaimedEvent[] {
    return this.#events.sort((a, b) => byTime(a.claim.sinceMs, b.claim.sinceMs))
  }
}

/** Unknown times come last. */
function byTime(aMs: number | undefined, bMs: number | undefined): number {
  if (aMs === bMs) return 0
  return (aMs ?? Number.POSITIVE_INFINITY) - (bMs ?? Number.POSITIVE_INFINITY)
}

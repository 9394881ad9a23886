import type { RunningEvent } from '../stream/summary.ts'
import { type OpenEvent, type OpenEventFilter, openEvents, passesEvent } from './open-events.ts'
import type { SummarizedStream } from './summaries.ts'

/** The open events of a worker or a step. */
interface Load {
  readonly running: number
  readonly abandoned: number
  /** Number of their streams. */
  readonly streams: number
  /** The earliest claim, epoch ms. */
  readonly sinceMs: number | undefined
  /** The latest sign of life, epoch ms. */
  readonly lastSeenMs: number | undefined
  /** The highest number of an attempt; 0 without a running event. */
  readonly attempt: number
}

export interface WorkerLoad extends Load {
  /** `''` for workers that make no claims, `undefined` for all workers beyond the limit. */
  readonly owner: string | undefined
}

export interface StepLoad extends Load {
  /** Name of the events; `undefined` for all steps beyond the limit. */
  readonly step: string | undefined
  readonly ready: number
  /** Since when the stream that has waited longest for this step has a ready event, epoch ms. */
  readonly readySinceMs: number | undefined
}

/** An event that a worker has claimed. */
export interface ClaimedEvent {
  readonly stream: string
  readonly claim: RunningEvent
}

/** Maximum number of workers, and of steps; further ones are counted together, which bounds the memory. */
const MAX_LOADS = 2_000

/** Adds up the ready, running and abandoned events of streams by worker and by step. */
export class WorkerTally {
  readonly #workers = new Map<string | undefined, WorkerLoad>()
  readonly #steps = new Map<string | undefined, StepLoad>()
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
    const { readySinceMs } = summary
    const events = openEvents(summary, nowMs).filter(
      event => event.state !== 'held' && passesEvent(event, this.#filter),
    )
    const owners = new Set<string | undefined>()
    const steps = new Set<string | undefined>()
    for (const event of events) {
      const step = keyIn(this.#steps, event.name)
      this.#steps.set(step, withStep(this.#steps.get(step), step, event, { readySinceMs, isFirst: !steps.has(step) }))
      steps.add(step)
      if (event.claim === undefined) continue
      const owner = keyIn(this.#workers, event.claim.owner)
      this.#workers.set(owner, { owner, ...withEvent(this.#workers.get(owner), event, !owners.has(owner)) })
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

  /** By name. */
  steps(): StepLoad[] {
    return [...this.#steps.values()].sort((a, b) => ((a.step ?? '\uffff') < (b.step ?? '\uffff') ? -1 : 1))
  }

  /** The earliest claim first. */
  events(): ClaimedEvent[] {
    return this.#events.sort((a, b) => byTime(a.claim.sinceMs, b.claim.sinceMs))
  }
}

function keyIn(loads: ReadonlyMap<string | undefined, unknown>, key: string): string | undefined {
  return loads.has(key) || loads.size < MAX_LOADS ? key : undefined
}

function withStep(
  load: StepLoad | undefined,
  step: string | undefined,
  event: OpenEvent,
  { readySinceMs, isFirst }: { readonly readySinceMs: number | undefined; readonly isFirst: boolean },
): StepLoad {
  const isReady = event.state === 'ready'
  return {
    step,
    ready: (load?.ready ?? 0) + (isReady ? 1 : 0),
    readySinceMs: outer(Math.min, load?.readySinceMs, isReady ? readySinceMs : undefined),
    ...withEvent(load, event, isFirst),
  }
}

/** The load with one more event. @param isFirst it is the first one of its stream */
function withEvent(load: Load | undefined, { state, claim }: OpenEvent, isFirst: boolean): Load {
  return {
    running: (load?.running ?? 0) + (state === 'running' ? 1 : 0),
    abandoned: (load?.abandoned ?? 0) + (state === 'abandoned' ? 1 : 0),
    streams: (load?.streams ?? 0) + (isFirst ? 1 : 0),
    sinceMs: outer(Math.min, load?.sinceMs, claim?.sinceMs),
    lastSeenMs: outer(Math.max, load?.lastSeenMs, claim?.lastSeenMs),
    attempt: Math.max(load?.attempt ?? 0, claim?.attempt ?? 0),
  }
}

/** Either time may be unknown. */
function outer(
  of: (aMs: number, bMs: number) => number,
  aMs: number | undefined,
  bMs: number | undefined,
): number | undefined {
  return aMs === undefined || bMs === undefined ? (aMs ?? bMs) : of(aMs, bMs)
}

/** Unknown times come last. */
function byTime(aMs: number | undefined, bMs: number | undefined): number {
  if (aMs === bMs) return 0
  return (aMs ?? Number.POSITIVE_INFINITY) - (bMs ?? Number.POSITIVE_INFINITY)
}

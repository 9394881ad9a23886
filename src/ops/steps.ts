import { cutCount, type Summary } from '../stream/summary.ts'
import { readyName } from '../stream/summary-items.ts'
import { visibleText } from '../util/visible-text.ts'
import type { OpenEvent } from './open-events.ts'

/** The open events of a worker or a step, each in one number only. */
export interface Load {
  readonly ready: number
  /** Events that a worker has. */
  readonly running: number
  /** Events whose worker is silent: their claim has ended. */
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

/** What there is to do in a step, which is all events of one name. */
export interface StepLoad extends Load {
  /** Name of the events; `undefined` for all steps beyond the limit, and for events that summaries only count. */
  readonly step: string | undefined
  /** Since when the stream that has waited longest for this step has a ready event, epoch ms. */
  readonly readySinceMs: number | undefined
  /** Streams whose first failure is of this step and is not acknowledged. */
  readonly failed: number
}

/** A step in the output of `check`; the rest of many steps is `other`. */
export interface StepWork extends Pick<StepLoad, StepCount> {
  readonly step: string
}

export type StepCount = (typeof STEP_COUNTS)[number]

/** The counts of a step, in their order in outputs. */
export const STEP_COUNTS = ['ready', 'running', 'abandoned', 'failed'] as const

/** Maximum number of workers, and of steps; further ones are counted together, which bounds the memory. */
const MAX_LOADS = 2_000
/** Limit for the steps of metrics: each of them is a series. */
const MAX_SERIES = 50
const OTHER_STEPS = 'other'

/** Adds up what there is to do, by step. */
export class StepWorkTally {
  readonly #steps = new Map<string | undefined, AddingUp<StepLoad>>()

  /** Adds open events of one stream. @param readySinceMs since when the first of its ready events is ready */
  add(events: readonly OpenEvent[], readySinceMs?: number): void {
    const seen = new Set<string | undefined>()
    for (const event of events) {
      const load = this.#loadOf(event.name)
      addEvent(load, event, !seen.has(load.step))
      if (event.state === 'ready') load.readySinceMs = outer(Math.min, load.readySinceMs, readySinceMs)
      seen.add(load.step)
    }
  }

  /** Adds the ready events of a summary, also those that it only counts. */
  addReady(items: Summary['ready']): void {
    for (const item of items) {
      const rest = cutCount(item)
      this.#count(rest > 0 ? undefined : readyName(item), 'ready', rest || 1)
    }
  }

  /** Adds the events that a summary only counts. */
  addCut({ ready, running }: Pick<Summary, 'ready' | 'running'>): void {
    this.#count(undefined, 'ready', cutCount(ready.at(-1)))
    this.#count(undefined, 'running', cutCount(running.at(-1)))
  }

  addFailed(step: string): void {
    this.#count(step, 'failed', 1)
  }

  byName(): StepLoad[] {
    const steps = [...this.#steps.values()].map(load => ({ ...load }))
    return steps.sort((a, b) => ((a.step ?? '\uffff') < (b.step ?? '\uffff') ? -1 : 1))
  }

  /** The steps with the most events, then `other` if there is anything else. */
  largest(): readonly StepWork[] {
    const steps = [...this.#steps.values()].map(({ step = OTHER_STEPS, ...load }) => ({ step, ...load }))
    const sorted = steps.filter(({ step }) => step !== OTHER_STEPS).sort(largestFirst)
    const rest = [...steps.filter(({ step }) => step === OTHER_STEPS), ...sorted.slice(MAX_SERIES)]
    const first = sorted.slice(0, MAX_SERIES).map(load => workOf(load.step, [load]))
    return rest.length === 0 ? first : [...first, workOf(OTHER_STEPS, rest)]
  }

  #count(step: string | undefined, what: StepCount, count: number): void {
    if (count > 0) this.#loadOf(step)[what] += count
  }

  #loadOf(name: string | undefined): AddingUp<StepLoad> {
    const step = keyIn(this.#steps, name)
    const known = this.#steps.get(step)
    if (known !== undefined) return known
    const load = { step, failed: 0, readySinceMs: undefined, ...NO_LOAD }
    this.#steps.set(step, load)
    return load
  }
}

const NOTHING = { ready: 0, running: 0, abandoned: 0, streams: 0, attempt: 0 }
export const NO_LOAD: Load = { ...NOTHING, sinceMs: undefined, lastSeenMs: undefined }

/** A load that is still being added up. */
export type AddingUp<Of extends Load> = { -readonly [Name in keyof Of]: Of[Name] }

/** Adds an event to a load. @param isFirst it is the first one of its stream */
export function addEvent(load: AddingUp<Load>, { state, claim }: OpenEvent, isFirst: boolean): void {
  if (state !== 'held' && state !== 'suspended') load[state]++
  if (isFirst) load.streams++
  if (claim === undefined) return
  load.sinceMs = outer(Math.min, load.sinceMs, claim.sinceMs)
  load.lastSeenMs = outer(Math.max, load.lastSeenMs, claim.lastSeenMs)
  load.attempt = Math.max(load.attempt, claim.attempt)
}

/** The key of a name in a tally: `undefined` once there are too many. */
export function keyIn(loads: ReadonlyMap<string | undefined, unknown>, name: string | undefined): string | undefined {
  return loads.has(name) || loads.size < MAX_LOADS ? name : undefined
}

/** The loads of the steps of several stores as those of one: steps of the same name are added up. */
export function mergedSteps(loads: Iterable<StepLoad>): readonly StepLoad[] {
  const merged = new Map<string | undefined, StepLoad>()
  for (const load of loads) {
    const known = merged.get(load.step)
    merged.set(load.step, known === undefined ? load : bothLoads(known, load))
  }
  return [...merged.values()]
}

function bothLoads(a: StepLoad, b: StepLoad): StepLoad {
  return {
    ...workOf('', [a, b]),
    step: a.step,
    streams: a.streams + b.streams,
    sinceMs: outer(Math.min, a.sinceMs, b.sinceMs),
    lastSeenMs: outer(Math.max, a.lastSeenMs, b.lastSeenMs),
    attempt: Math.max(a.attempt, b.attempt),
    readySinceMs: outer(Math.min, a.readySinceMs, b.readySinceMs),
  }
}

/** Either time may be unknown. */
function outer(of: typeof Math.min, aMs: number | undefined, bMs: number | undefined): number | undefined {
  return aMs === undefined || bMs === undefined ? (aMs ?? bMs) : of(aMs, bMs)
}

function largestFirst(a: StepWork, b: StepWork): number {
  const [ofA, ofB] = [a, b].map(work => STEP_COUNTS.reduce((total, what) => total + work[what], 0))
  return (ofB ?? 0) - (ofA ?? 0) || (a.step < b.step ? -1 : 1)
}

function workOf(step: string, loads: readonly Pick<StepLoad, StepCount>[]): StepWork {
  const sum = (what: StepCount) => loads.reduce((total, load) => total + load[what], 0)
  return { step, ready: sum('ready'), running: sum('running'), abandoned: sum('abandoned'), failed: sum('failed') }
}

/** Characters of a step's name in a label. */
const LABEL_LENGTH = 100

/** The name of a step as a label of metrics: one line of bounded length. */
export function stepLabel(step: string): string {
  return visibleText([...step.slice(0, 2 * LABEL_LENGTH)].slice(0, LABEL_LENGTH).join('').toWellFormed())
}

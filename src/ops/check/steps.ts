import { cutCount, type Summary } from '../../stream/summary.ts'
import { readyName, runningEvent } from '../../stream/summary-items.ts'
import { visibleText } from '../../util/visible-text.ts'
import { isAbandoned } from '../open-events.ts'

/** What there is to do in a step, which is all events of one name. An event counts in one number only. */
export interface StepWork {
  /** Name of the events; `OTHER_STEPS` for the rest of many steps, and for events that summaries only count. */
  readonly step: string
  readonly ready: number
  /** Events that a worker has. */
  readonly running: number
  /** Events whose worker is silent: their claim has ended. */
  readonly abandoned: number
  /** Streams whose first failure is of this step and is not acknowledged. */
  readonly failed: number
}

export type StepCount = Exclude<keyof StepWork, 'step'>

/** The counts of a step, in their order in outputs. */
export const STEP_COUNTS: readonly StepCount[] = ['ready', 'running', 'abandoned', 'failed']

const OTHER_STEPS = 'other'

/** Limit for the steps of a result: each of them is a series of metrics. */
const MAX_STEPS = 50
/** Limit for the steps counted apart: foreign writers may give each event a name of its own. */
const MAX_COUNTED_STEPS = 2_000

/** Counts what there is to do, by step. */
export class StepWorkTally {
  readonly #steps = new Map<string, Record<StepCount, number>>()

  /** @param nowMs the store's clock, epoch ms */
  addOpen({ ready, running }: Pick<Summary, 'ready' | 'running'>, nowMs: number): void {
    this.addReady(ready)
    for (const item of running) {
      const event = runningEvent(item)
      if (event === undefined) this.#add(OTHER_STEPS, 'running', cutCount(item))
      else this.#add(event.name, isAbandoned(event, nowMs) ? 'abandoned' : 'running')
    }
  }

  /** @param ready items of a summary */
  addReady(ready: Summary['ready']): void {
    for (const item of ready) {
      const rest = cutCount(item)
      this.#add(rest > 0 ? OTHER_STEPS : readyName(item), 'ready', rest || 1)
    }
  }

  addFailed(step: string): void {
    this.#add(step, 'failed')
  }

  /** The steps with the most events, then `OTHER_STEPS` if there is anything else. */
  result(): readonly StepWork[] {
    const steps = [...this.#steps].map(([step, counts]) => ({ step, ...counts }))
    const sorted = steps.filter(({ step }) => step !== OTHER_STEPS).sort(largestFirst)
    const rest = [...steps.filter(({ step }) => step === OTHER_STEPS), ...sorted.slice(MAX_STEPS)]
    const first = sorted.slice(0, MAX_STEPS)
    return rest.length === 0 ? first : [...first, { ...rest.reduce(sum), step: OTHER_STEPS }]
  }

  #add(step: string, what: StepCount, count = 1): void {
    const isFull = this.#steps.size >= MAX_COUNTED_STEPS && !this.#steps.has(step)
    const key = isFull ? OTHER_STEPS : step
    const counts = this.#steps.get(key) ?? { ready: 0, running: 0, abandoned: 0, failed: 0 }
    counts[what] += count
    this.#steps.set(key, counts)
  }
}

/** Characters of a step's name in a label. */
const LABEL_LENGTH = 100

/** The name of a step as a label of metrics: one line of bounded length. */
export function stepLabel(step: string): string {
  return visibleText([...step.slice(0, 2 * LABEL_LENGTH)].slice(0, LABEL_LENGTH).join('').toWellFormed())
}

function largestFirst(a: StepWork, b: StepWork): number {
  return totalOf(b) - totalOf(a) || (a.step < b.step ? -1 : 1)
}

function totalOf(work: StepWork): number {
  return STEP_COUNTS.reduce((total, what) => total + work[what], 0)
}

function sum(a: StepWork, b: StepWork): StepWork {
  return {
    step: a.step,
    ready: a.ready + b.ready,
    running: a.running + b.running,
    abandoned: a.abandoned + b.abandoned,
    failed: a.failed + b.failed,
  }
}

import { cutBytes, TEXT_LIMITS } from '../../stream/text.ts'
import type { AttemptOutcome, TriedEvent } from './attempts.ts'
import { LogHistogram } from './histogram.ts'

/** The attribute by which events are grouped into steps. */
export type StepBy = 'name' | 'topic'

/** The statistics of all events of one step. */
export interface StepStats {
  /** The name or topic, cut to 1 KiB; `''` for events without one, and for the steps beyond the limit. */
  readonly step: string
  /** The events of all steps beyond the limit. */
  readonly others: boolean
  readonly events: number
  /** Number of attempts by outcome. A retried event has several. */
  readonly outcomes: Readonly<Record<AttemptOutcome, number>>
  /** How often they failed for a passing reason: the same attempt went on. */
  readonly transient: number
  /** See `AttemptSpan`. Open attempts are only in the first. */
  readonly waited: LogHistogram
  readonly ran: LogHistogram
  readonly took: LogHistogram
  /** The attempt that ran longest. */
  readonly slowest: Slowest | undefined
}

export interface Slowest {
  readonly stream: string
  readonly event: string
  readonly ranMs: number
}

/** Maximum number of steps; further ones are counted together, which bounds the memory. */
export const MAX_STEPS = 500

type Counting = { -readonly [Field in keyof StepStats]: StepStats[Field] } & {
  outcomes: Record<AttemptOutcome, number>
}

/** Adds up the attempts of many streams, step by step. */
export class StepTally {
  readonly #by: StepBy
  readonly #sinceMs: number | undefined
  readonly #steps = new Map<string, Counting>()
  #others: Counting | undefined

  /** @param sinceMs count only attempts that ended at or after it, epoch ms; without it open ones too */
  constructor(by: StepBy, sinceMs: number | undefined) {
    this.#by = by
    this.#sinceMs = sinceMs
  }

  add(stream: string, events: readonly TriedEvent[]): void {
    for (const { event, attempts, transientMs } of events) {
      const counting = attempts.filter(({ endedMs }) => this.#counts(endedMs))
      const transient = transientMs.filter(ms => this.#counts(ms)).length
      if (counting.length === 0 && transient === 0) continue
      const step = this.#stepOf(cutBytes(event[this.#by], TEXT_LIMITS.other))
      step.events++
      step.transient += transient
      for (const { outcome, waitedMs, ranMs, tookMs } of counting) {
        step.outcomes[outcome]++
        if (waitedMs !== undefined) step.waited.add(waitedMs)
        if (tookMs !== undefined) step.took.add(tookMs)
        if (ranMs === undefined) continue
        step.ran.add(ranMs)
        if (step.slowest === undefined || ranMs > step.slowest.ranMs) step.slowest = { stream, event: event.id, ranMs }
      }
    }
  }

  /** The steps in the order of their first event, then the others. */
  steps(): readonly StepStats[] {
    return [...this.#steps.values(), ...(this.#others === undefined ? [] : [this.#others])]
  }

  #counts(endedMs: number | undefined): boolean {
    return this.#sinceMs === undefined || (endedMs !== undefined && endedMs >= this.#sinceMs)
  }

  #stepOf(step: string): Counting {
    const known = this.#steps.get(step)
    if (known !== undefined) return known
    if (this.#steps.size >= MAX_STEPS) {
      this.#others ??= emptyStep('', true)
      return this.#others
    }
    const fresh = emptyStep(step, false)
    this.#steps.set(step, fresh)
    return fresh
  }
}

function emptyStep(step: string, others: boolean): Counting {
  return {
    step,
    others,
    events: 0,
    outcomes: { completed: 0, aborted: 0, canceled: 0, open: 0 },
    transient: 0,
    waited: new LogHistogram(),
    ran: new LogHistogram(),
    took: new LogHistogram(),
    slowest: undefined,
  }
}

/** Number of ended attempts. Those that failed are the aborted ones: what was canceled on request did not fail. */
export function endedAttempts({ outcomes }: Pick<StepStats, 'outcomes'>): number {
  return outcomes.completed + outcomes.aborted + outcomes.canceled
}

/** The sort order of steps: the largest first, names ascending. */
export type StepOrder = 'count' | 'failures' | 'p95' | 'name'

/** Sorts steps; equal values by name, steps without a value and the others last. */
export function sortedSteps(steps: readonly StepStats[], order: StepOrder): readonly StepStats[] {
  const byName = (a: StepStats, b: StepStats) => (a.step < b.step ? -1 : a.step > b.step ? 1 : 0)
  return steps
    .map(step => ({ step, size: sizeOf(step, order) }))
    .sort((a, b) => Number(a.step.others) - Number(b.step.others) || b.size - a.size || byName(a.step, b.step))
    .map(({ step }) => step)
}

function sizeOf(step: StepStats, order: StepOrder): number {
  switch (order) {
    case 'count':
      return step.events
    case 'failures':
      return step.outcomes.aborted
    case 'p95':
      return step.ran.quantile(0.95) ?? -1
    case 'name':
      return 0
    default:
      return order satisfies never
  }
}

import type { LogHistogram } from '../../ops/stats/histogram.ts'
import { endedAttempts, type StepStats } from '../../ops/stats/stats.ts'
import { orNull } from '../json.ts'

/** A step as one item of `stats -o json` and one line of `-o ndjson`; fields are only ever added. */
export function stepJson(step: StepStats, withOpen: boolean) {
  const { outcomes, slowest } = step
  const ended = endedAttempts(step)
  return {
    step: orNull(step.step),
    others: step.others,
    events: step.events,
    attempts: ended + outcomes.open,
    completed: outcomes.completed,
    aborted: outcomes.aborted,
    canceled: outcomes.canceled,
    open: withOpen ? outcomes.open : null,
    failed: outcomes.aborted,
    transient: step.transient,
    failedShare: ended === 0 ? null : round(outcomes.aborted / ended, 4),
    waited: lengthsJson(step.waited),
    ran: lengthsJson(step.ran),
    took: lengthsJson(step.took),
    slowest: slowest ?? null,
  }
}

const LENGTHS = ['count', 'minMs', 'meanMs', 'p50Ms', 'p95Ms', 'p99Ms', 'maxMs', 'histogram']

/** The columns of CSV. */
export const STEP_FIELDS: readonly string[] = [
  'groupBy',
  'since',
  'step',
  'others',
  'events',
  'attempts',
  'completed',
  'aborted',
  'canceled',
  'open',
  'failed',
  'transient',
  'failedShare',
  ...['waited', 'ran', 'took'].flatMap(what => LENGTHS.map(figure => `${what}.${figure}`)),
  ...['stream', 'event', 'ranMs'].map(field => `slowest.${field}`),
]

/** A distribution of durations as figures and bins. */
export function lengthsJson(histogram: LogHistogram) {
  const { count, minMs, meanMs, maxMs } = histogram
  const quantile = (q: number) => whole(histogram.quantile(q))
  return {
    count,
    minMs: whole(minMs),
    meanMs: whole(meanMs),
    p50Ms: quantile(0.5),
    p95Ms: quantile(0.95),
    p99Ms: quantile(0.99),
    maxMs: whole(maxMs),
    histogram: binsOf(histogram),
  }
}

/**
 * Bins end at 1, 2, 5, 10, 20, 50, … ms; empty ones are left out. A value within 1 % of a bin's end may fall in either
 * bin.
 */
export function binsOf(histogram: LogHistogram) {
  const bins = new Map<number, number>()
  for (const { ms, count } of histogram.buckets()) {
    const toMs = endOfBin(ms)
    bins.set(toMs, (bins.get(toMs) ?? 0) + count)
  }
  return [...bins].map(([toMs, count]) => ({ toMs, count }))
}

function endOfBin(ms: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, ms))))
  return [1, 2, 5].map(times => times * unit).find(end => ms <= end) ?? 10 * unit
}

function whole(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms)
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
